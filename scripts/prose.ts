/** Finds long sentences, and words that are easy to misread. */

export interface Fault {
  readonly line: number;
  readonly reason: string;
}

/** A paragraph, an item of a list, a heading, or a cell of a table. */
interface Block {
  readonly line: number;
  readonly isCell: boolean;
  text: string;
}

const SENTENCE_WORDS_MAX = 30;
const CELL_WORDS_MAX = 40;

const MISREAD: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/(?<!such\s|\bas\s\w+\s)\bas\s`?\d+(?![\d-])/gi, 'write "such as" before a number'],
  [/\balone\b/gi, 'write "only" for "alone"'],
];

const FENCE = /^\s*```/;
const CELLS = /^\s*\|(.*)\|$/;
/** A line without prose: an empty line, the rule of a table, a comment. */
const GAP = /^\s*($|\|[\s|:-]*$|<!--)/;
const START = /^\s*(?:[-*+]|\d+\.)\s+/;
const SENTENCE = /\S[\s\S]*?(?:[.!?][)"'*`]*(?=\s|$)|$)/g;

export function findFaults(markdown: string): Fault[] {
  return splitBlocks(markdown).flatMap((block) => {
    const text = hideCode(block.text);
    const lineAt = (offset: number) => block.line + countLines(text.slice(0, offset));
    const misread = MISREAD.flatMap(([pattern, reason]) =>
      [...text.matchAll(pattern)].map(({ index }) => ({ line: lineAt(index), reason })),
    );
    const sentences = [...text.matchAll(SENTENCE)].flatMap(({ 0: sentence, index }) =>
      checkSentence(sentence).map((reason) => ({ line: lineAt(index), reason })),
    );
    const cell = block.isCell ? checkWords(text, 'cell', CELL_WORDS_MAX) : [];
    return [...misread, ...sentences, ...cell.map((reason) => ({ line: block.line, reason }))];
  });
}

function splitBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let isCode = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    const line = index + 1;
    if (FENCE.test(text)) isCode = !isCode;
    const cells = CELLS.exec(text)?.[1]?.split(/(?<!\\)\|/);
    if (isCode || FENCE.test(text) || GAP.test(text)) open = undefined;
    else if (cells || text.startsWith('#')) {
      open = undefined;
      const isCell = cells !== undefined;
      blocks.push(...(cells ?? [text]).map((part) => ({ line, isCell, text: part })));
    } else if (!open || START.test(text)) {
      open = { line, isCell: false, text: text.replace(START, '') };
      blocks.push(open);
    } else open.text += `\n${text}`;
  }
  return blocks;
}

/** Each code becomes one word without an end of a sentence, as long as before. */
function hideCode(text: string): string {
  return text.replace(/`[^`]*`/g, (code) => code.replace(/[ .!?]/g, '_'));
}

function checkSentence(sentence: string): string[] {
  const of = /^[("*]*Of\s/.test(sentence) ? ['a sentence starts with "Of"'] : [];
  return [...of, ...checkWords(sentence, 'sentence', SENTENCE_WORDS_MAX)];
}

function checkWords(text: string, what: string, max: number): string[] {
  const count = text.split(/\s+/).filter((word) => /\w/.test(word)).length;
  return count > max ? [`a ${what} has ${count} words, more than ${max}`] : [];
}

const countLines = (text: string) => text.split('\n').length - 1;
