/** Reads the trace of strace: whether each answer was sent after the sync of its own row. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** The system calls that are needed, with the files of their descriptors and whole pages. */
export const STRACE = [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--string-limit=16384'],
  '--trace=write,writev,pwrite64,pwritev,fsync,fdatasync,sendto,sendmsg,sendmmsg',
] as const;

const CALL = /^(?<pid>\d+) +(?:(?<call>\w+)\(\d+<(?<file>[^>]*)>|<\.\.\. (?<resumed>\w+) resumed>)/;
const GOOD = /= 0$/;

export interface Trace {
  readonly rows: number;
  readonly answers: number;
  /** The syncs of the write-ahead log, and those that were the first after a row. */
  readonly syncs: number;
  readonly usefulSyncs: number;
  readonly violations: readonly string[];
}

/** @param name what is found once in each row, in the log and in the answer. */
export async function readTrace(file: string, name: RegExp): Promise<Trace> {
  /** Rows in the log that no sync was begun for; those of the sync that is under way, by thread. */
  let written: string[] = [];
  const syncing = new Map<string, string[]>();
  const writing = new Map<string, string[]>();
  const seen = new Set<string>();
  const synced = new Set<string>();
  const answered = new Set<string>();
  const violations: string[] = [];
  let syncs = 0;
  let usefulSyncs = 0;

  function endSync(pid: string, line: string): void {
    const rows = syncing.get(pid) ?? [];
    syncing.delete(pid);
    syncs += 1;
    if (!GOOD.test(line)) return;
    for (const row of rows) synced.add(row);
    if (rows.length > 0) usefulSyncs += 1;
  }

  function endWrite(pid: string): void {
    written.push(...(writing.get(pid) ?? []));
    writing.delete(pid);
  }

  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    const { pid = '', call, file = '', resumed } = CALL.exec(line)?.groups ?? {};
    const isCut = line.endsWith('<unfinished ...>');
    if (resumed !== undefined) {
      if (syncing.has(pid) && /sync$/.test(resumed)) endSync(pid, line);
      if (writing.has(pid) && /^pwrite/.test(resumed)) endWrite(pid);
    } else if (call === undefined) {
    } else if (file.endsWith('-wal') && /sync$/.test(call)) {
      syncing.set(pid, written);
      written = [];
      if (!isCut) endSync(pid, line);
    } else if (file.endsWith('-wal')) {
      // A page is written again with each row that is added to it; a row belongs to the first write that has it.
      const rows = new Set(line.match(name) ?? []).difference(seen);
      for (const row of rows) seen.add(row);
      writing.set(pid, [...rows]);
      if (!isCut) endWrite(pid);
    } else if (/^(?:socket|TCP)/.test(file)) {
      // The start of the call: the answer may be on its way before the call returns.
      for (const row of line.includes('HTTP/1.1 201') ? (line.match(name) ?? []) : []) {
        answered.add(row);
        if (!synced.has(row)) violations.push(`${row} was answered before it was on the disk`);
      }
    }
  }
  return { rows: seen.size, answers: answered.size, syncs, usefulSyncs, violations };
}
