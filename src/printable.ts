/** What may be shown of a text that somebody else wrote. */

/** All controls and formats, except the two joiners: words of some scripts, and emojis, need them. */
export const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text on one line, with a space in the place of each unprintable character. */
export function toPrintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ');
}
