/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

type Results<Result> = readonly (Result | Promise<Result>)[];

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result | Promise<Result>) => void;
}

/**
 * A function that collects requests until the turn ends and then reads them all at once.
 *
 * @param read the results in the order of the requests; a result that comes later than the others may
 *   be a promise. A promise of them is of all requests: when it fails, each of them fails. An array may
 *   end after the first ones, at least one: the others are read in the next turn.
 * @param requestsMax the requests that are read at once; those above it are read in the next turn.
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
