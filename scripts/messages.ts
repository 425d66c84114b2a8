/** What `src/` says to a person where no table has it. A value is shown as `…`. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.ts';

/** The reason of a 503, and the line of a warning. */
export function readReasons(): string[] {
  const before =
    /\bunavailable\(\s*|\b(?:message|what|cause) =\s*(?:\w+\s+\? )?(?:'[^']+'\s+: )?|\b(?:warn|error)\(\s*/;
  const message = new RegExp(`(?<=${before.source})(?:'([^']+)'|\`([^\`]+)\`)`, 'g');
  return readFiles('src/{http,service,storage}/**/*.ts').flatMap((source) =>
    [...source.matchAll(message)].flatMap(([, plain, text = plain ?? '']) => {
      const shown = text.replace(/\$\{[^}]*\}/g, '…');
      return /^(?:…|its? |the database …)/.test(shown) ? [] : [shown];
    }),
  );
}

/** A call, or a choice, that tells why a command was refused, or what it warns of. */
const TELLS =
  /new [A-Z]\w+Error\(|\b(?:badRequest|unavailable|refuse|createRowError|report)\(|\bsay\((?=.?the |NO_)|return (?=KNOWN\[)|stderr\.write\(\s*(?=`petstore: this)/g;
/** What is a part of another text, or made of others only. */
const PART = /^(?:[^a-z]*|the database …:? ?…|standard input …|line 1|… most …|and ….*)$/;
const LITERAL = /'((?:[^'\\\n]|\\.)+)'|"([^"\n]+)"|`([^`]+)`/g;

/** The errors and warnings of commands: of their options, their files, the address, and the store. */
export function readRefusals(): string[] {
  const files =
    'src/{cli/**/*,storage/**/*,service/**/*,csv-read,csv-write,json,pet,pet-field,rows}.ts';
  const texts = readFiles(files).flatMap((source) =>
    [...source.matchAll(TELLS)].flatMap(({ 0: { length }, index }) =>
      readTexts(readExpression(source, index + length), source.slice(0, index), source),
    ),
  );
  return texts.filter((text) => !PART.test(text)).map((text) => text.replace(/^(?:… )+/, '… '));
}

function readFiles(pattern: string): string[] {
  const files = globSync(pattern, { cwd: ROOT }).sort();
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
}

/** The source up to the end of the call or statement. */
function readExpression(source: string, start: number): string {
  let levels = 0;
  let end = start;
  for (; levels >= 0 && !source.startsWith(';\n', end); end += 1) {
    if ('([{'.includes(source[end] ?? ' ')) levels += 1;
    if (')]}'.includes(source[end] ?? ' ')) levels -= 1;
  }
  return source.slice(start, end);
}

/** A constant that has texts. */
const NAMED = /\b(?:messages?|reason|faults?|KNOWN|NO_[A-Z]+|ROW_[A-Z_]+|MALFORMED)\b/g;

/** The texts of an expression: its literals, and those of the constants that it names. */
function readTexts(expression: string, before: string, source: string): string[] {
  const literals = [...expression.matchAll(LITERAL)].flatMap(([, a, b, c]) => a ?? b ?? c ?? []);
  const texts = literals.filter((text) => /[ :]|\$\{/.test(text));
  const outside = expression.replace(LITERAL, '');
  return [
    ...texts.flatMap((text) => fillText(text, before, source)),
    ...(outside.match(NAMED) ?? []).flatMap((name) => readNamed(name, before, source)),
  ];
}

/** The texts of a constant: of the last one before the text that names it. A constant of the file is anywhere. */
function readNamed(name: string, before: string, source: string): string[] {
  const isMade = new RegExp(`const \\[?${name}\\b[^=\\n]*(?:=\\s+|of )`, 'g');
  const place = /^[A-Z_]+$/.test(name) ? source : before;
  const made = [...place.matchAll(isMade)].at(-1);
  if (made === undefined) return [];
  const expression = readExpression(place, made.index + made[0].length);
  return readTexts(expression, place.slice(0, made.index), source);
}

function fillText(text: string, before: string, source: string): string[] {
  const value = /\$\{(?:(\w+)(?:\(\))?\}|.*?\})/.exec(text);
  if (value === null) return [text];
  const { 0: shown, 1: name = '', index } = value;
  const found = /^(?:|version)$/.test(name) ? [] : readNamed(name, before, source);
  const rest = fillText(text.slice(index + shown.length), before, source);
  const starts = (found.length > 0 ? found : ['…']).map((each) => text.slice(0, index) + each);
  return starts.flatMap((start) => rest.map((more) => start + more));
}
