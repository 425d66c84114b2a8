/** The variables `PETSTORE_*`. A mistyped name is refused: with a default, the wrong environment might be served. */

import type { Command, Option } from 'commander';
import { findNearest } from '../nearest.ts';
import { UNPRINTABLE } from '../printable.ts';
import { toVariable, UsageError } from './options.ts';

/** Kubernetes adds these variables for a service that is named petstore, or petstore-SOMETHING. */
const OF_KUBERNETES = /^PETSTORE_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT\w*|PORT_\d+_\w+)$/;
const URL_OF_KUBERNETES = /^(?:tcp|udp|sctp):\/\//;

/** Of the variables of libpq, the driver reads this one as libpq does, and others such as PGSSLMODE in its own way. */
const OF_LIBPQ = /^PG(?!PASSWORD$)/;

/**
 * Removes the variables of Kubernetes, because `PETSTORE_PORT=tcp://…` would be taken for an option, and of libpq.
 *
 * @throws UsageError for a value that whoever set it does not see as it is.
 */
export function cleanVariables(): void {
  for (const [name, value = ''] of Object.entries(process.env)) {
    const isUrl = /^PETSTORE_(?:\w+_)?PORT$/.test(name) && URL_OF_KUBERNETES.test(value);
    if (isUrl || OF_KUBERNETES.test(name) || OF_LIBPQ.test(name)) delete process.env[name];
    else if (name.startsWith('PETSTORE_')) checkValue(name, value);
  }
}

function checkValue(name: string, value: string): void {
  const refuse = (what: string) => new UsageError(`the value of ${name} ${what}: remove it`);
  if (/^["']/.test(value)) throw refuse('begins with a quote, which docker --env-file keeps');
  const place = value.search(UNPRINTABLE);
  if (place === -1) return;
  const hex = value.codePointAt(place)?.toString(16).padStart(4, '0');
  throw refuse(`has the invisible character U+${hex}, such as of a Windows line end`);
}

/** @throws UsageError for an option that npm did not pass on, because no `--` was before it. npm has a --json too. */
export function checkNpm(program: Command, args: readonly string[]): void {
  const flags = args.map((arg) => arg.replace(/=.*/s, ''));
  const isTaken = (option: Option) =>
    process.env[`npm_config_${option.name().replaceAll('-', '_')}`] !== undefined;
  const taken = listOptions(program).find(
    (option) => isTaken(option) && !flags.includes(`${option.long}`),
  );
  if (taken === undefined) return;
  const remedy =
    'put -- before the options, such as npm start -- --port 9000, or remove it from .npmrc';
  throw new UsageError(`npm took ${taken.long}, or .npmrc sets it: ${remedy}`);
}

/** @throws UsageError for a variable `PETSTORE_*` that belongs to no option. */
export function checkVariables(program: Command): void {
  const options = listOptions(program);
  const known = new Set(options.map(({ envVar }) => envVar).filter((name) => name !== undefined));
  const unknown = Object.keys(process.env).find(
    (name) => name.startsWith('PETSTORE_') && !known.has(name),
  );
  if (unknown === undefined) return;
  const flag = options.find((option) => toVariable(option) === unknown)?.long;
  const hint = flag
    ? `give ${flag} to a command that takes it`
    : `did you mean ${findNearest(unknown, known)}?`;
  throw new UsageError(`unknown variable ${unknown}: ${hint}`);
}

function listOptions({ options, commands }: Command): Option[] {
  return [...options, ...commands.flatMap(listOptions)];
}
