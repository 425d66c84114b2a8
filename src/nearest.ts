/** Which known name a mistyped one is taken for. */

/** The known name that takes the fewest edits; undefined if no name is known. */
export function findNearest(name: string, known: Iterable<string>): string | undefined {
  return [...known].sort((a, b) => countEdits(a, name) - countEdits(b, name))[0];
}

/** The least number of characters to insert, delete or replace (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (row[at] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
