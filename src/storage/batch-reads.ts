/** Batch reads: the reads of one turn of the event loop are sent to the database together. */

/**
 * Collects requests until the turn ends, and reads them together. The next batch reads those above `max`: in the next
 * turn, or with `isAlone` when this batch is read.
 */
export function batchReads<Request, Result>(
  read: (requests: readonly Request[]) => readonly Promise<Result>[],
  { max = Infinity, isAlone = false } = {},
): (request: Request) => Promise<Result> {
  const waiting: { request: Request; resolve: (result: Promise<Result>) => void }[] = [];
  let isScheduled = false;

  function schedule(): void {
    isScheduled = waiting.length > 0;
    if (isScheduled) setImmediate(readWaiting);
  }

  function readWaiting(): void {
    const batch = waiting.splice(0, max);
    const results = read(batch.map(({ request }) => request));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Promise<Result>);
    if (isAlone) Promise.allSettled(results).then(schedule);
    else schedule();
  }

  return (request) =>
    new Promise((resolve) => {
      waiting.push({ request, resolve });
      if (!isScheduled) schedule();
    });
}
