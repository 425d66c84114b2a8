/** The corrections of `pets import --update`: what is refused, and what is printed before they are made. */

import { badRequest } from '../error.ts';
import { writeJson } from '../json.ts';
import { GIVEN_PET_FIELDS, NEW_PET_FIELDS } from '../pet.ts';
import type { Correction, Corrections } from '../store.ts';
import { countPets, say, toCorrectionTable } from './output.ts';
import { print, printUndo } from './standard-output.ts';

const SHOWN_MAX = 20;

/** @throws PetstoreError `bad_request` for a missing column of CSV, or if a row without a field would remove its value. */
export function refuseLoss({ fields }: Corrections, missing: readonly string[]): void {
  for (const { name } of GIVEN_PET_FIELDS) {
    const lacking = fields.find((field) => field.name === name)?.lacking ?? 0;
    if (lacking === 0 && !missing.includes(name)) continue;
    const loss = lacking > 0 ? `, or ${countPets(lacking)} would lose it` : '';
    const remedy = `correct a file of "pets export"; an empty cell, or null in JSON, takes a value away`;
    const message = `--update needs the field "${name}"${loss}: ${remedy}`;
    throw badRequest(message);
  }
}

/** @param json whether to print all pets as they were, and not the first pets as they were and are. */
export async function tellCorrections(corrections: Corrections, json: boolean): Promise<void> {
  const { count, fields, list } = corrections;
  if (count === 0) return;
  for await (const some of list()) {
    if (json) await printOld(some);
    else {
      await print(await toCorrectionTable(some.slice(0, SHOWN_MAX)));
      break;
    }
  }
  const more = count - SHOWN_MAX;
  if (more > 0 && !json) say(`and ${more.toLocaleString('en-US')} more`);
  const counts = fields.flatMap(({ name, changed, removed }) => [
    { what: `change ${name}`, pets: changed },
    { what: `remove ${name}`, pets: removed },
  ]);
  const real = counts.filter(({ pets }) => pets > 0);
  say(real.map(({ what, pets }) => `${what} of ${countPets(pets)}`).join(', '));
}

/** Prints the pets as they were: importing these lines with `--update` undoes it. It needs null for no value. */
function printOld(corrections: readonly Correction[]): Promise<void> {
  const lines = corrections.map(({ was }) => {
    const members = NEW_PET_FIELDS.map(({ name }) => [name, was[name] ?? null]);
    return writeJson({ id: was.id, ...Object.fromEntries(members) });
  });
  return printUndo(lines);
}
