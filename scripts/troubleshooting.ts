/** The tables of docs/troubleshooting.md. Each text comes from `src/` or the rules of alerts, and needs an entry here. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, type ErrorCode } from '../src/error.ts';
import { LASTING, PASSING, UNREACHED } from '../src/storage/postgres/errors.ts';
import { EXPLANATIONS } from '../src/storage/sqlite/errors.ts';
import { COMMANDS } from './command-troubles.ts';
import { toCode, toPlain, toTable } from './markdown.ts';
import { readReasons, readRefusals } from './messages.ts';
import { ROOT } from './run.ts';
import { CODES, type Entry, KEY_REASONS, REASONS } from './troubles.ts';

const PAGE = 'docs/troubleshooting.md';

export function toTroubleshooting(): Readonly<Record<string, string>> {
  const entries: Readonly<Record<string, Entry>> = { ...REASONS, ...COMMANDS };
  const used = new Set<string>();
  const missing: string[] = [];
  const findStart = (text: string) => {
    const stem = text.replace(/^the database (?!is of|must)/, '');
    const starts = Object.keys(entries).filter((each) => stem.startsWith(each));
    return starts.sort((one, other) => other.length - one.length)[0] ?? '';
  };
  const find = (text: string) => {
    const start = findStart(text);
    used.add(start);
    const entry = entries[start];
    if (entry === undefined) missing.push(text);
    return [shorten(text), ...(entry ?? [])];
  };
  const findAll = (texts: readonly string[]) => toRows([...new Set(texts)].map(find));
  const texts = {
    codes: toRows(
      Object.entries(CODES).map(([code, entry]) => [
        `${ERRORS[code as ErrorCode].status} ${code}`,
        ...entry,
      ]),
    ),
    'key reasons': toRows(Object.entries(KEY_REASONS).map(([reason, entry]) => [reason, ...entry])),
    reasons: findAll(readReasons()),
    'reasons of PostgreSQL': findAll([
      ...[...LASTING, ...PASSING].map(([text]) => text),
      UNREACHED,
    ]),
    'reasons of SQLite': toRows(
      [...new Set(EXPLANATIONS.values())].map((text) =>
        find(text).map((cell) =>
          cell.startsWith('psql') ? 'fuser -v /var/lib/petstore/petstore.db' : cell,
        ),
      ),
    ),
    // An entry is shown once, with its first text.
    refusals: toRows(
      readRefusals().flatMap((text) => (used.has(findStart(text)) ? [] : [find(text)])),
    ),
    alerts: toTable(['alert', 'what it says', 'remedy'], readAlerts()),
  };
  if (missing.length > 0) throw new Error(`${PAGE} lacks: ${missing.join('\n')}`);
  const old = Object.keys(entries).filter((start) => !used.has(start));
  if (old.length > 0) throw new Error(`${PAGE} has old texts: ${old.join('\n')}`);
  return texts;
}

/** The rest of a long message, such as its SQL, stands in the message itself. */
const shorten = (text: string) =>
  text.replace(/: select .*/s, ': select …').replace(/^(.{120}\S*) .+/s, '$1 …');

function toRows(rows: readonly (readonly string[])[]): string {
  const cells = rows.map(([text = '', cause = '', look = '', remedy = '']) => [
    ...[toCode(text), cause, toCode(look), remedy],
  ]);
  return toTable(['text', 'cause', 'what shows it', 'remedy'], cells);
}

function readAlerts(): string[][] {
  const rules = readFileSync(join(ROOT, 'deploy/monitoring/alerts.yml'), 'utf8').split('- alert: ');
  return rules.slice(1).map((rule) => {
    const pick = (name: string) => {
      const [, text = ''] =
        new RegExp(`${name}: (?:>-)?\\s*([^]*?)(?=\\n\\s*(?:#|description:)|\\s*$)`).exec(rule) ??
        [];
      const plain = text.trim().replace(/^"|"$/g, '').replaceAll('\\"', '"').replace(/\s+/g, ' ');
      if (plain === '') throw new Error(`an alert has no ${name}: ${rule}`);
      const named = plain.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => label.toUpperCase());
      return toPlain(named.replace(/\{\{.*\}\}/, 'REASON'));
    };
    return [toCode(/^\w+/.exec(rule)?.[0] ?? ''), pick('summary'), pick('description')];
  });
}
