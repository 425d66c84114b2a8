/** How the CPU time of some work grows with its size. Other processes of a busy machine add nothing to it. */

const TRIES = 3;

/** What this process needs at least, in milliseconds, of the tries. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const tries: number[] = [];
  for (let count = 0; count < TRIES; count += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    tries.push((user + system) / 1_000);
  }
  return Math.min(...tries);
}
