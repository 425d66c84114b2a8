/** Many rows in one statement: PostgreSQL reads them from JSON as records of a table. */

import type { Row, SqlValue } from '../engine.ts';

/** SQL for the rows that a value of `toRecords` holds. */
export function recordsOf(table: string): string {
  return `json_populate_recordset(null::${table}, ?)`;
}

/** The rows as JSON, the value of `recordsOf`. */
export function toRecords(columns: readonly string[], rows: readonly Row[]): string {
  const records = rows.map((row) => {
    const members = row.map((value, index) => `"${columns[index]}":${toJson(value)}`);
    return `{${members}}`;
  });
  return `[${records}]`;
}

/** The rows in arrays of `count`; the last one may be shorter. */
export async function* toBatches(rows: AsyncIterable<Row>, count: number): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length === count) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function toJson(value: SqlValue): string {
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
