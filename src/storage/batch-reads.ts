/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

interface WaitingRead<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result | Promise<Result>) => void;
}

/**
 * A function that collects requests until the turn ends and then reads them all at once.
 *
 * @param read returns the results in the order of the requests. It may end after the first results, at least one:
 *   the next turn reads the other requests.
 */
export function batchReads<Request, Result>(
  read: (requests: readonly Request[]) => readonly (Result | Promise<Result>)[],
): (request: Request) => Promise<Result> {
  const waiting: WaitingRead<Request, Result>[] = [];

  function readWaiting(): void {
    const results = read(waiting.map(({ request }) => request));
    const batch = waiting.splice(0, results.length);
    if (waiting.length > 0) setImmediate(readWaiting);
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  }

  return (request) =>
    new Promise((resolve) => {
      if (waiting.push({ request, resolve }) === 1) setImmediate(readWaiting);
    });
}
