/** The known name that a mistyped one is taken for. */

export function findNearest(
  name: string,
  known: Iterable<string>,
  editsMax = Infinity,
): string | undefined {
  const [nearest] = [...known]
    .map((one) => ({ one, edits: countEdits(one, name) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest !== undefined && nearest.edits <= editsMax ? nearest.one : undefined;
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
