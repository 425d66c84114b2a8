/** What an error says to whoever reads its causes too. */

/** Messages of the error and of all that led to it. */
export function listMessages(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.message, ...[...errors, error.cause].flatMap(listMessages)];
}
