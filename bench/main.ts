/**
 * The whole bench: each server in turns on one core, the load and PostgreSQL on the other. Needs Linux,
 * two cores, wrk, PostgreSQL, and npm for the servers that it compares with.
 *
 * Usage: npm run bench [-- [--short] [--only NAME,…] [--rounds N] [--seconds N] [--growth PETS] [RESULTS.json]]
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Datasets } from './datasets.ts';
import { evaluate, type Result, toMarkdown } from './report.ts';
import { createScenarios } from './scenarios.ts';
import { stayOnLoadCore } from './servers.ts';

const { values, positionals } = parseArgs({
  options: {
    /** One round of 1 s, to check that every scenario runs; the figures mean nothing. */
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    growth: { type: 'string' },
  },
  allowPositionals: true,
});
const pace = {
  rounds: parseCount(values.rounds) ?? (values.short ? 1 : 5),
  seconds: parseCount(values.seconds) ?? (values.short ? 1 : 5),
  warmSeconds: values.short ? 0 : 3,
};
const growth = parseCount(values.growth) ?? (values.short ? 100_000 : 1_000_000);
const [file = join(import.meta.dirname, '../.cache/bench-results.json')] = positionals;

const all = createScenarios(growth);
const names = values.only?.split(',') ?? all.map(({ name }) => name);
const unknown = names.find((name) => all.every((scenario) => scenario.name !== name));
if (unknown !== undefined) {
  const known = all.map(({ name }) => name).join(', ');
  throw new Error(`there is no scenario ${unknown}: there are ${known}`);
}

stayOnLoadCore();
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
await using datasets = new Datasets();
mkdirSync(dirname(file), { recursive: true });
const machine = { node: process.version, cpu: cpus()[0]?.model };
console.log(`# ${Object.values(machine).join(', ')}: ${describe()}\n`);
const results: Result[] = [];
for (const scenario of all.filter(({ name }) => names.includes(name))) {
  try {
    const result = evaluate(scenario, await scenario.run({ datasets, pace }));
    results.push(result);
    console.log(toMarkdown(result));
  } catch (error) {
    process.exitCode = 1;
    console.error(`${scenario.name} failed:`, error);
  }
  writeFileSync(file, `${JSON.stringify({ machine, pace, growth, results }, undefined, 2)}\n`);
}

function describe(): string {
  const { rounds, seconds } = pace;
  return `rounds of ${seconds} s: ${rounds}${values.short ? ' (too short to mean anything)' : ''}`;
}

function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`it must be a whole number from 1: ${text}`);
}
