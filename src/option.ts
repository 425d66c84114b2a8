/** An option: a row that stands beside what it configures. Its flag and its variable are made from its name. */

export interface OptionKind<Value = unknown> {
  /** The name of the value in the help. In brackets if the flag may come without a value, which means `true`. */
  readonly value: string;
  readonly mustBe: string;
  /** Undefined for a text that is refused. @throws PetstoreError if no message may repeat the text. */
  readonly find: (text: string) => Value | undefined;
}

export interface OptionRow extends OptionKind {
  readonly description: string;
  /** Without a default the option may be absent. */
  readonly default?: unknown;
  readonly choices?: readonly string[];
}

export const option = <Value, const Default = undefined>(
  kind: OptionKind<Value>,
  description: string,
  usual?: Default,
) => ({ ...kind, description, default: usual as Default });

/** The values of the options of a table. An option without a default may be undefined. */
export type OptionValues<Rows extends Readonly<Record<string, OptionRow>>> = {
  readonly [Name in keyof Rows]:
    | NonNullable<ReturnType<Rows[Name]['find']>>
    | Rows[Name]['default'];
};

export const choice = <const Word extends string>(words: readonly Word[], value: string) => ({
  value,
  mustBe: `one of ${words.join(', ')}`,
  choices: words,
  find: (text: string) => words.find((word) => word === text),
});

export const count = (min: number, max: number, value = '<count>') => ({
  value,
  mustBe: `a whole number from ${min} to ${max}`,
  find(text: string): number | undefined {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

export const list = (value: string, mustBe: string, isItem: (item: string) => boolean) => ({
  value,
  mustBe,
  find(text: string): readonly string[] | undefined {
    const items = text.split(',').map((item) => item.trim());
    return items.every(isItem) ? items : undefined;
  },
});

export const SWITCH = {
  value: '[boolean]',
  mustBe: 'true or false',
  find: (text: string) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};
