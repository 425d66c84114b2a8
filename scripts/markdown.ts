/** Parts of Markdown that scripts write. */

export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [toLine(head), `|${'---|'.repeat(head.length)}`, ...rows.map(toLine)].join('\n');
}

/** Escapes what Markdown would take as a tag, emphasis or a cell. */
export const toPlain = (text: string) => text.replace(/[<*|]/g, '\\$&');
export const toCode = (text: string) => (text === '' ? '' : `\`${text}\``);
