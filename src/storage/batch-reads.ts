/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

/**
 * A function that collects requests until the turn ends and then reads them all at once.
 *
 * @param read returns the results in the order of the requests.
 * @param max the most requests that it gets at once; the next turn reads the others.
 */
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
