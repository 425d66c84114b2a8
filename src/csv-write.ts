/** Pets to CSV (RFC 4180), also for spreadsheets. */

import { badRequest, type PetstoreError } from './error.ts';
import { GIVEN_PET_FIELDS, type Pet } from './pet.ts';

export const CSV_COLUMNS = GIVEN_PET_FIELDS.map((field) => ({
  ...field,
  /** Whether any text is a value. */
  isFree: field.kind === 'text' && field.schema.enum === undefined,
}));
export type Column = (typeof CSV_COLUMNS)[number];

const NEEDS_QUOTES = /[",;|\t\r\n]|^ | $/;

/** Characters that spreadsheets drop or replace. U+000A is kept. */
const IS_LOST = /[^\P{Cc}\n]|[\ufffe\uffff]/u;
/** A spreadsheet shows a longer number as 1.23457E+11. */
const CHARACTERS_MAX = 11;
/** Before a text that a spreadsheet would take for a formula, number or date, and before the name of such a column. */
export const MARK = "'";

/**
 * @param isExcel whether the file has a byte order mark, and marks before values that a spreadsheet would change.
 * @param refusesLoss whether a name is refused that a spreadsheet would change despite the mark.
 */
export function createCsvFormat(isExcel: boolean, separator: ',' | ';', refusesLoss = isExcel) {
  const toRow = (cells: readonly string[]) => `${cells.map(quoteCell).join(separator)}\n`;
  const header = CSV_COLUMNS.map(({ name, isFree }) => (isExcel && isFree ? MARK : '') + name);
  return {
    head: (isExcel ? '\ufeff' : '') + toRow(header),
    row(pet: Pet) {
      const cells = CSV_COLUMNS.map((column) => {
        const text = String(pet[column.name] ?? '');
        if (refusesLoss && IS_LOST.test(text)) throw createLoss(pet, column.name);
        return isExcel && (column.isFree || text.length > CHARACTERS_MAX) ? MARK + text : text;
      });
      return toRow(cells);
    },
  };
}

function createLoss({ id }: Pet, name: string): PetstoreError {
  const reason = 'has control characters, which a spreadsheet loses: export it as plain CSV';
  return badRequest(`the ${name} of pet ${id} ${reason}`);
}

function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
