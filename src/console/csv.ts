/** The rows of a whole CSV text (RFC 4180), by the rules of `petstore pets import`. */

import {
  type Columns,
  countLineFeeds,
  createLineError,
  findDelimiter,
  type PetRow,
  parseHeader,
  toCsvPetRow,
} from '../pet-file.ts';

/** @throws RowError for a wrong header, and where a quote is wrong, so that the next row cannot be told. */
export function parseCsv(text: string): PetRow[] {
  const delimiter = findDelimiter(text);
  const plain = `(?:[^${delimiter}"\\r\\n]|\\r(?!\\n))*`;
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(${plain}))(${delimiter}|\\r?\\n|$)`, 'y');
  const rows: PetRow[] = [];
  let columns: Columns | undefined;
  let cells: string[] = [];
  for (let line = 1, lines = 0; ; ) {
    const match = cell.exec(text);
    if (match === null) {
      throw createLineError(
        line,
        'a cell with a quote in it must be quoted, and its quotes doubled',
      );
    }
    const [whole, quoted, unquoted = '', end] = match;
    cells.push(quoted?.replaceAll('""', '"') ?? unquoted);
    lines += countLineFeeds(whole);
    if (end === delimiter) continue;
    if (columns === undefined) columns = parseHeader(cells);
    else if (cells.length > 1 || cells[0] !== '') rows.push(toCsvPetRow(columns, line, cells));
    if (end === '') return rows;
    cells = [];
    line += lines;
    lines = 0;
  }
}
