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

/** The rows with their numbers as the first value, from `before + 1`. */
export function toNumbered(rows: readonly Row[], before = 0): Row[] {
  return rows.map((row, index) => [before + index + 1, ...row]);
}

/**
 * SQL that inserts rows, numbered from 1 by their `id`, with the next ids of the table. Its two values
 * are their count.
 *
 * @param rows the rows in SQL: a table, or `recordsOf` one.
 */
export function toInsertFrom(rows: string, table: string, columns: readonly string[]): string {
  return `with counted as (
      update counters set value = value + ? where name = '${table}' returning value
    )
    insert into ${table} (id, ${columns})
    select (select value from counted) - ? + id, ${columns} from ${rows} order by id`;
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
