/** What a start says: where it listens, and what to do about keys. */

import type { OpenLog } from './open-log.ts';

export interface Announcement {
  /** Each is one line of the log; its text may have several. */
  readonly notes: readonly string[];
  /** A text with a key, which the log must not have. */
  readonly secret?: string;
}

/**
 * Announces it as text on standard output. When programs read both streams, as those of a container, the
 * notes are lines of the log, so that standard error has all of them, as JSON.
 */
export function announce({ notes, secret }: Announcement, { log, hasJsonInfo }: OpenLog): void {
  const isLogged = hasJsonInfo && !process.stdout.isTTY;
  const texts = [...(isLogged ? [] : notes), ...(secret === undefined ? [] : [secret])];
  if (texts.length > 0) process.stdout.write(`${texts.join('\n')}\n`);
  if (isLogged) for (const note of notes) log.info(note);
}
