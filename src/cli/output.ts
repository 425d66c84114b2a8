/** What commands print: lines on standard error, tables, and examples in their help. */

/** Control characters, line ends, and characters that change the direction of the text after them. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** Prints a line on standard error, which a script does not read as the result. */
export function say(line: string): void {
  process.stderr.write(`${toOneLine(line)}\n`);
}

/** The text without control characters: a terminal would act on those in a file name or an argument. */
export function toOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** The cells in columns of a terminal. An unprintable character becomes an escape. */
export async function toTable(rows: readonly (readonly string[])[]): Promise<string> {
  // Loading it takes 60 ms: only tables wait for it.
  const { default: stringWidth } = await import('string-width');
  const cells = rows.map((row) => row.map((cell) => cell.replace(UNPRINTABLE, toEscape)));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))),
  );
  const pad = (cell: string, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
  return cells.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
