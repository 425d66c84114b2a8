/** SIGTERM and SIGINT: the first signal stops the service in order, a later signal at once. */

/** Signals within this time count as one: runtime/node.cjs sends a Ctrl-C a second time. */
const SAME_SIGNAL_MS = 1_000;

/** @param stop stops the service; resolves to false if the process cannot exit by itself. */
export function stopOnSignal(stop: () => Promise<boolean>): void {
  let stoppingAt: number | undefined;
  const onSignal = async () => {
    if (stoppingAt !== undefined) {
      if (performance.now() - stoppingAt > SAME_SIGNAL_MS) kill();
      return;
    }
    stoppingAt = performance.now();
    if (await stop()) process.exit(0);
    kill();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** `process.exit` would wait for a write to a pipe that nobody reads. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
