/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

/** Collects requests until the turn ends, and reads them together. The next turn reads those above `max`. */
export function batchReads<Request, Result>(
  read: (requests: readonly Request[]) => readonly Promise<Result>[],
  max = Infinity,
): (request: Request) => Promise<Result> {
  const waiting: { request: Request; resolve: (result: Promise<Result>) => void }[] = [];

  function readWaiting(): void {
    const batch = waiting.splice(0, max);
    if (waiting.length > 0) setImmediate(readWaiting);
    const results = read(batch.map(({ request }) => request));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Promise<Result>);
  }

  return (request) =>
    new Promise((resolve) => {
      if (waiting.push({ request, resolve }) === 1) setImmediate(readWaiting);
    });
}
