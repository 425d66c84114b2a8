/** What commands print: lines on standard error, tables, and examples in their help. */

/** A line on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The text without what a terminal would act on, which file names and arguments may hold. */
export function toOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** The examples at the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** The cells in columns; each row ends with a line feed. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}
