/** The texts that come from the tables of `src/`: openapi.json, a file of the client, parts of `docs/` and `deploy/nginx.conf`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_SERVICE } from '../src/cli/commands/print-openapi.ts';
import { serveOptions } from '../src/cli/options.ts';
import { ERRORS, type ErrorCode } from '../src/error.ts';
import { MALFORMED, toErrorBody } from '../src/http/error-answers.ts';
import { CONSTANT_HEADERS, EXPOSED_HEADERS } from '../src/http/headers.ts';
import { HTTP_LIMITS } from '../src/http/limits.ts';
import { writeOpenApi } from '../src/http/openapi.ts';
import { SERVED_METHODS } from '../src/http/protocol/request-line.ts';
import { NOTHING_HERE } from '../src/http/routes/fallback.ts';
import type { Limit } from '../src/limit.ts';
import { SERVICE_LIMITS } from '../src/service/limits.ts';
import { METRICS } from '../src/service/metrics.ts';
import { KNOWN_PARAMETERS } from '../src/storage/address.ts';
import { STORE_LIMITS } from '../src/storage/limits.ts';
import { RIGHTS } from '../src/storage/tables.ts';
import { writeClientInterface } from './client-interface.ts';
import { describeCommands, listOptions } from './command-tables.ts';
import { toCode, toPlain, toTable } from './markdown.ts';
import { listScripts } from './npm-scripts.ts';
import { ROOT } from './run.ts';
import { toTroubleshooting } from './troubleshooting.ts';

/** The generated texts, by their files. */
export function createTexts(): ReadonlyMap<string, string> {
  const parts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'CONTRIBUTING.md': { commands: listScripts() },
    'docs/cli.md': { options: listOptions(serveOptions()), commands: describeCommands() },
    'docs/limits.md': { limits: toLimitTable() },
    'docs/postgresql.md': { parameters: listParameters(), rights: listRights() },
    'docs/troubleshooting.md': toTroubleshooting(),
    'docs/operations.md': { metrics: listMetrics() },
    'docs/interface-decisions.md': { errors: listErrors() },
    'deploy/nginx.conf': { answers: toNginxMaps(), headers: toNginxHeaders() },
  };
  return new Map([
    ['openapi.json', `${writeOpenApi(LOCAL_SERVICE, 2)}\n`],
    ['client/interface.ts', writeClientInterface()],
    ...Object.entries(parts).map(([file, texts]) => [file, fill(file, texts)] as const),
  ]);
}

/** The file with each text between the lines `generated: NAME` and `end of NAME`. */
function fill(file: string, texts: Readonly<Record<string, string>>): string {
  let whole = readFileSync(join(ROOT, file), 'utf8');
  // A table of Markdown ends at an empty line.
  const margin = file.endsWith('.md') ? '\n' : '';
  for (const [name, text] of Object.entries(texts)) {
    const place = new RegExp(`(generated: ${name},.*\\n)[^]*?(.*end of ${name}\\b)`);
    if (!place.test(whole)) throw new Error(`${file} has no place for ${name}`);
    whole = whole.replace(
      place,
      (_all, first, last) => `${first}${margin}${text}\n${margin}${last}`,
    );
  }
  return whole;
}

function toLimitTable(): string {
  const rows = Object.entries<Limit>({ ...HTTP_LIMITS, ...STORE_LIMITS, ...SERVICE_LIMITS });
  return toTable(
    ['limit', 'value', 'at the limit (metric)'],
    rows.map(([name, { value, of, then, metric }]) => {
      const shown = metric === '' ? then : `${then} (${toCode(metric)})`;
      return [of, toValue(name, value), shown];
    }),
  );
}

/** A value in the unit that its name has. */
function toValue(name: string, value: number): string {
  if (/_BYTES_/.test(name)) return toBinary(value, 'B');
  if (/_UNITS_/.test(name)) return `${toBinary(value, '')} UTF-16 units`;
  if (/_SECONDS_/.test(name)) return `${value} s`;
  if (/_MS\b|_MS_/.test(name)) return toTime(value);
  return value.toLocaleString('en');
}

function toBinary(value: number, unit: string): string {
  const kibi = value / 1024;
  return kibi < 1024 ? `${kibi} Ki${unit}` : `${kibi / 1024} Mi${unit}`;
}

function toTime(ms: number): string {
  if (ms < 100) return `${ms} ms`;
  return ms < 3_600_000 ? `${ms / 1_000} s` : `${ms / 3_600_000} h`;
}

function listMetrics(): string {
  const lines = Object.entries(METRICS).map(([name, { help, labels }]) => {
    const series = labels.length > 0 ? `${name}{${labels.join(', ')}}` : name;
    return `- ${toCode(series)}: ${help}`;
  });
  return lines.join('\n');
}

function listRights(): string {
  const grants = RIGHTS.map(
    ([table, rights]) => `grant ${rights.join(', ')} on ${table} to petstore;`,
  );
  return ['```sql', 'grant usage on schema public to petstore;', ...grants, '```'].join('\n');
}

const listParameters = () => `${KNOWN_PARAMETERS.split(' ').map(toCode).join(', ')}.`;

function listErrors(): string {
  return Object.entries(ERRORS)
    .map(([name, { status, message }]) => `- ${status} ${toCode(name)}: ${toPlain(message)}`)
    .join('\n');
}

const ALLOW = SERVED_METHODS.join(', ');

/** The errors that nginx itself answers. A message is given if it differs from the message of a replica. */
const NGINX_ANSWERS: readonly (readonly [code: ErrorCode, message?: string])[] = [
  ['bad_request', MALFORMED],
  ['not_found', NOTHING_HERE.message],
  ['method_not_allowed', `this path takes only ${ALLOW}`],
  ['payload_too_large'],
  ['rate_limited', 'this address has sent too many requests: try again when Retry-After says'],
  ['headers_too_large'],
  ['unavailable'],
];

function toNginxMaps(): string {
  const toJson = (name: ErrorCode, message: string = ERRORS[name].message) =>
    JSON.stringify(toErrorBody({ code: name, message }));
  return [
    '  map $status $petstore_error {',
    ...NGINX_ANSWERS.map(
      ([name, message]) => `    ${ERRORS[name].status} '${toJson(name, message)}';`,
    ),
    `    default '${toJson('internal_error', 'the service failed to answer')}';`,
    '  }',
    '  map $status $petstore_retry_after {',
    ...NGINX_ANSWERS.flatMap(([name]) => {
      const { status, headers } = ERRORS[name];
      return headers?.['retry-after'] ? [`    ${status} ${headers['retry-after']};`] : [];
    }),
    '  }',
    '  map $status $petstore_allow {',
    `    405 '${ALLOW}';`,
    '  }',
  ].join('\n');
}

function toNginxHeaders(): string {
  // A page of any origin may read that it was refused: nginx tells it nothing else.
  const cors = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  };
  const lines = Object.entries({ ...CONSTANT_HEADERS, ...cors }).map(([name, value]) => {
    const text = /[ ;]/.test(value) ? `"${value}"` : value;
    return `      add_header ${name} ${text} always;`;
  });
  return lines.join('\n');
}
