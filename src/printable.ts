/** What may be shown of a text that somebody else wrote. */

/** What a terminal acts on, or what hides or reverses text. The two joiners stay: some scripts and emojis need them. */
export const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text on one line, with a space in the place of each unprintable character. */
export function toPrintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ');
}

/** The stack of an error and of its causes. A message, which a server may have written, adds no lines. */
export function toPrintableStack(error: unknown): string {
  if (!(error instanceof Error)) return toPrintable(String(error));
  const { message, stack = '', cause } = error;
  const lines = stack.replace(message, () => toPrintable(message)).split('\n');
  if (cause !== undefined) lines.push(...`caused by ${toPrintableStack(cause)}`.split('\n'));
  return lines.map(toPrintable).join('\n');
}
