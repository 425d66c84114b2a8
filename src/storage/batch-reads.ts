/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

type Results<Result> = readonly (Result | Promise<Result>)[];

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result | Promise<Result>) => void;
}

/**
 * A function that collects requests until the turn ends and then reads them all at once.
 *
 * @param read returns the results in the order of the requests. An array may have promises, and may end
 *   after the first results, at least one: the next turn reads the other requests. A promise has all
 *   results: if it fails, all requests fail.
 * @param requestsMax how many requests are read at once; the next turn reads the others.
 */
export function batchReads<Request, Result>(
  read: (requests: readonly Request[]) => Results<Result> | Promise<Results<Result>>,
  requestsMax = Number.POSITIVE_INFINITY,
): (request: Request) => Promise<Result> {
  const waiting: Waiting<Request, Result>[] = [];

  function readWaiting(): void {
    const results = read(waiting.slice(0, requestsMax).map(({ request }) => request));
    const areLater = results instanceof Promise;
    const batch = waiting.splice(0, areLater ? requestsMax : results.length);
    if (waiting.length > 0) setImmediate(readWaiting);
    for (const [index, { resolve }] of batch.entries()) {
      const resultOf = (all: Results<Result>) => all[index] as Result;
      resolve(areLater ? results.then(resultOf) : resultOf(results));
    }
  }

  return (request) =>
    new Promise((resolve) => {
      if (waiting.push({ request, resolve }) === 1) setImmediate(readWaiting);
    });
}
