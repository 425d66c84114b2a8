/** What a start says: where it listens, and what to do about keys. */

import type { OpenLog } from './open-log.ts';

export interface Announcement {
  /** Each note is one line of the log. */
  readonly notes: readonly string[];
  /** A text with a key: the log must not have it. */
  readonly secret?: string;
}

/** Writes to standard output. If programs read the log, the notes are lines of the log instead. */
export function announce({ notes, secret }: Announcement, { log, hasJsonInfo }: OpenLog): void {
  const isLogged = hasJsonInfo && !process.stdout.isTTY;
  const texts = [...(isLogged ? [] : notes), ...(secret === undefined ? [] : [secret])];
  if (texts.length > 0) process.stdout.write(`${texts.join('\n')}\n`);
  if (isLogged) for (const note of notes) log.info(note);
}
