/** The rules of `deploy/monitoring/alerts.yml` in promtool: faults that last for minutes, which no test could wait for. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ALERTS = join(import.meta.dirname, '../../deploy/monitoring/alerts.yml');
const SCRAPE_SECONDS = 15;
/** When the alerts are compared: behind the longest `for`, and more often than the faults come. */
const MINUTES = [15, 16, 17, 18, 19, 20];

const cwd = createProcessFolder();

/** The value of a series at a second; undefined while it is not there. */
type Series = (second: number) => number | undefined;

/** A count that grows by one each so many seconds. It is there from the first one. */
const each =
  (seconds: number): Series =>
  (second) =>
    Math.floor(second / seconds) || undefined;
const never: Series = () => 0;
const always: Series = () => 1;

const toSeries = (name: string, labels = '') =>
  `${name}{job="petstore",instance="pets:9464"${labels}}`;
const REQUEST_SECONDS = 'petstore_http_request_duration_seconds';
const toRequests = (method: string, status: number) =>
  toSeries(`${REQUEST_SECONDS}_count`, `,method="${method}",route="/v1/pets",status="${status}"`);
const toBucket = (status: number, le: string) =>
  toSeries(`${REQUEST_SECONDS}_bucket`, `,method="POST",status="${status}",le="${le}"`);

/** Of a service that works. */
const WORKS: Readonly<Record<string, Series>> = {
  [toSeries('up')]: always,
  [toSeries('petstore_build_info')]: always,
  [toRequests('GET', 200)]: each(0.01),
  [toRequests('POST', 201)]: each(10),
};

/** A service that ends after 27 s, and starts after 2 s more. */
const isEnded = (second: number) => second % 29 >= 27;
const CRASHES = {
  [toSeries('up')]: (second: number) => Number(!isEnded(second)),
  [toSeries('process_start_time_seconds')]: (second: number) =>
    isEnded(second) ? undefined : second - (second % 29),
};

const UPGRADES = {
  [toSeries('process_start_time_seconds')]: (second: number) =>
    [780, 600, 0].find((start) => start <= second),
};

const failOnce = (seconds: number) => ({
  [toRequests('POST', 201)]: never,
  [toRequests('POST', 503)]: each(seconds),
});

/** A create of each minute; one of them fails. An earlier one did too, so that its series is there. */
const failOfMany = {
  [toRequests('POST', 201)]: each(60),
  [toRequests('POST', 503)]: (second: number) => (second < 840 ? 1 : 2),
};

const CLOSES = { [toSeries('petstore_http_closed_connections_total')]: each(120) };

/** Each 10 s, an answer with this status is slow. */
const beSlow = (status: number) => ({
  [toBucket(status, '0.25')]: never,
  [toBucket(status, '0.5')]: each(10),
  [toBucket(status, '+Inf')]: each(10),
  [toBucket(200, '0.25')]: each(1),
  [toBucket(200, '0.5')]: each(1),
  [toBucket(200, '+Inf')]: each(1),
});

/** Nothing but requests that are refused for this reason. */
const refuse = (reason: string) => ({
  [toSeries('petstore_http_refusals_total', `,code="unauthorized",reason="${reason}"`)]: each(60),
  [toRequests('GET', 401)]: each(60),
  [toRequests('GET', 200)]: never,
  [toRequests('POST', 201)]: never,
});

const CASES: readonly [what: string, series: Readonly<Record<string, Series>>, alert?: string][] = [
  ['nothing happens', {}],
  ['all creates fail, one in 75 s', failOnce(75), 'PetstoreRouteFails'],
  ['all creates fail, one in 4 minutes', failOnce(240), 'PetstoreRouteFails'],
  ['one of many creates fails', failOfMany],
  ['the service crashes after each 27 s', CRASHES, 'PetstoreRestarts'],
  ['the service is upgraded, and goes back', UPGRADES],
  ['each 2 minutes a connection is closed', CLOSES, 'PetstoreConnectionsClosed'],
  ['one of ten answers is slow', beSlow(201), 'PetstoreSlow'],
  ['one of ten bodies does not come', beSlow(408)],
  ['a bot has no key', refuse('missing')],
  ['no client has a key of the store', refuse('unknown'), 'PetstoreMostRefused'],
];

for (const [what, more, alert] of CASES) {
  test(`alerts.yml › ${what} › raises ${alert ?? 'no alert'}`, () => {
    const count = (Math.max(...MINUTES) * 60) / SCRAPE_SECONDS + 1;
    const series = Object.entries({ ...WORKS, ...more }).map(([name, read]) => ({
      series: name,
      values: Array.from({ length: count }, (_, index) => read(index * SCRAPE_SECONDS) ?? '_').join(
        ' ',
      ),
    }));
    const compared = MINUTES.map((minute) => ({
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${minute}m`,
      exp_samples: alert ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
    }));
    const interval = `${SCRAPE_SECONDS}s`;
    const file = join(cwd, 'test.json');
    const tests = [{ interval, input_series: series, promql_expr_test: compared }];
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [ALERTS], evaluation_interval: interval, tests }),
    );
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file]);
    assert.equal(status, 0, `${stdout}${stderr}`);
  });
}
