/** The dashboard and the rules of alerts in `deploy/monitoring` ask for metrics and labels that the service has. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { METRICS } from '../../src/service/metrics.ts';

/** A metric of the service in a query, with the conditions on its labels. */
const SERIES = /\b(petstore_[a-z_]+)(?:\{([^}]*)\})?/g;
const LABEL = /(\w+)\s*=/g;
const OF_PROMETHEUS = ['instance', 'job', 'le'];

for (const file of ['dashboard.json', 'alerts.yml']) {
  test(`${file} › each series that it asks for › is a metric of the service with its labels`, () => {
    const path = new URL(`../../deploy/monitoring/${file}`, import.meta.url);
    const found = [...readFileSync(path, 'utf8').replaceAll('\\"', '"').matchAll(SERIES)];
    assert.ok(found.length > 5);
    for (const [series, name = '', conditions = ''] of found) {
      const { labels } = METRICS[name.replace(/_(?:bucket|count|sum)$/, '')] ?? {};
      assert.ok(labels !== undefined, `${series}: no such metric`);
      for (const [, label = ''] of conditions.matchAll(LABEL)) {
        assert.ok([...labels, ...OF_PROMETHEUS].includes(label), `${series}: no such label`);
      }
    }
  });
}
