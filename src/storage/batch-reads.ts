/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

type Results<Result> = readonly (Result | Promise<Result>)[];

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
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
  let waiting: Waiting<Request, Result>[] = [];

  function readWaiting(): void {
    const batch = waiting.slice(0, requestsMax);
    const results = read(batch.map(({ request }) => request));
    const count = results instanceof Promise ? batch.length : results.length;
    waiting = waiting.slice(count);
    if (waiting.length > 0) setImmediate(readWaiting);
    if (results instanceof Promise) void settle(batch, results);
    else for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ request, resolve, reject }) === 1) setImmediate(readWaiting);
    });
}

async function settle<Request, Result>(
  batch: readonly Waiting<Request, Result>[],
  results: Promise<Results<Result>>,
): Promise<void> {
  try {
    const all = await results;
    for (const [index, { resolve }] of batch.entries()) resolve(all[index] as Result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
