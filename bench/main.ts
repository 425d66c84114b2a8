/**
 * The whole bench: each server in turns on one core, the load and PostgreSQL on the other. Needs Linux,
 * two cores, wrk, PostgreSQL, and npm for the servers that it compares with.
 */

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { Datasets } from './datasets.ts';
import { drawPicture, PICTURED } from './picture.ts';
import { evaluate, type Result, toMarkdown } from './report.ts';
import { createScenarios } from './scenarios.ts';
import { stayOnLoadCore } from './servers.ts';

interface Options {
  readonly only?: readonly string[];
  readonly rounds?: number;
  readonly seconds?: number;
  readonly short: boolean;
  readonly picture?: string;
}

const command = new Command('npm run bench --')
  .option('--only <names>', 'scenarios, with commas between them', (names) => names.split(','))
  .option('--rounds <count>', 'turns of each server (default: 5)', parseCount)
  .option('--seconds <count>', 'of a turn (default: 5)', parseCount)
  .option('--picture <file>', 'an SVG to draw, of list, get and create-64')
  .option(
    '--short',
    'one round of 1 s, to check that every scenario runs; the figures mean nothing',
    false,
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { only, short, picture, ...options } = command.opts<Options>();
const pace = {
  rounds: options.rounds ?? (short ? 1 : 5),
  seconds: options.seconds ?? (short ? 1 : 5),
  warmSeconds: short ? 0 : 3,
};

const all = createScenarios(short ? 100_000 : 1_000_000);
const known = all.map(({ name }) => name);
const names = only ?? known;
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) {
  command.error(`error: there is no scenario ${unknown}: there are ${known.join(', ')}`);
}
const missing = Object.keys(PICTURED).find((name) => !names.includes(name));
if (picture !== undefined && missing !== undefined) {
  command.error(`error: the picture needs the scenario ${missing}`);
}

stayOnLoadCore();
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
await using datasets = new Datasets();
console.log(`# ${process.version}, ${cpus()[0]?.model}: ${describe()}\n`);
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
}
if (picture !== undefined && process.exitCode === undefined) {
  writeFileSync(picture, drawPicture(results));
}

function describe(): string {
  const { rounds, seconds } = pace;
  return `rounds of ${seconds} s: ${rounds}${short ? ' (too short to mean anything)' : ''}`;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
