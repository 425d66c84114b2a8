/** The end of a call by the signal of its caller. */

/**
 * Runs the work, and gives it an end of its own. Rejects when the signal of the caller aborts: a function of the caller,
 * such as `apiKey`, may never end.
 */
export function orAborted<T>(
  signal: AbortSignal | undefined,
  work: (ending: AbortController) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  return new Promise((resolve, reject) => {
    const end = () => {
      reject(signal?.reason);
      ending.abort();
    };
    // Not AbortSignal.any: what it makes of the signal would stay with the signal.
    signal?.addEventListener('abort', end, { once: true });
    void work(ending)
      .then(resolve, reject)
      .then(() => signal?.removeEventListener('abort', end));
  });
}

/** Leaves no timer after the signal: the timer would keep the process alive. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const wait = (ending: AbortController) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      ending.signal.addEventListener('abort', () => clearTimeout(timer));
    });
  return orAborted(signal, wait);
}
