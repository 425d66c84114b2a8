/** The child processes of a process. */

import { readFile } from 'node:fs/promises';

/** Their ids; none on a system without /proc. */
export async function listChildren(pid: number | undefined): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.split(' ').filter(Boolean).map(Number);
}
