/** Many rows as one value of a statement: PostgreSQL reads them from JSON as records of a table. */

import type { Row, SqlValue } from '../engine.ts';

/** SQL for the rows in a value of `toRecords`. */
export function recordsOf(table: string): string {
  return `json_populate_recordset(null::${table}, ?)`;
}

/** The rows as JSON: the value for the `?` of `recordsOf`. */
export function toRecords(columns: readonly string[], rows: readonly Row[]): string {
  const records = rows.map((row) => {
    const members = row.map((value, index) => `"${columns[index]}":${toJson(value)}`);
    return `{${members}}`;
  });
  return `[${records}]`;
}

function toJson(value: SqlValue): string {
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
