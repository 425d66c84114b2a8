/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

/**
 * A function that collects requests until the turn ends and then reads them all at once.
 *
 * @param readAll resolves to the results in the order of the requests; a result that comes later than
 *   the others may be a promise. When it fails, every request of the batch fails.
 */
export function batchReads<Request, Result>(
  readAll: (requests: readonly Request[]) => Promise<readonly (Result | Promise<Result>)[]>,
): (request: Request) => Promise<Result> {
  let batch:
    | { readonly requests: Request[]; readonly results: ReturnType<typeof readAll> }
    | undefined;

  function startBatch() {
    const requests: Request[] = [];
    const results = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      batch = undefined;
      return readAll(requests);
    });
    return { requests, results };
  }

  return async (request) => {
    batch ??= startBatch();
    const index = batch.requests.push(request) - 1;
    return (await batch.results)[index] as Result | Promise<Result>;
  };
}
