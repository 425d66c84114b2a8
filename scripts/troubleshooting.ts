/** The tables of docs/troubleshooting.md. Each text comes from `src/` or the rules of alerts, and needs an entry here. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, type ErrorCode } from '../src/error.ts';
import { LASTING, PASSING } from '../src/storage/postgres/errors.ts';
import { EXPLANATIONS } from '../src/storage/sqlite/errors.ts';
import { toCode, toPlain, toTable } from './markdown.ts';
import { ROOT } from './run.ts';
import { CODES, KEY_REASONS, REASONS } from './troubles.ts';

const PAGE = 'docs/troubleshooting.md';

export function toTroubleshooting(): Readonly<Record<string, string>> {
  const read = [...LASTING, ...PASSING].map(([text]) => text);
  const messages = new Set(readMessages());
  const used = new Set<string>();
  const missing: string[] = [];
  const find = (text: string) => {
    const stem = text.replace(/^the database (?!is of)/, '');
    const starts = Object.keys(REASONS).filter((each) => stem.startsWith(each));
    const [start = ''] = starts.sort((one, other) => other.length - one.length);
    used.add(start);
    const entry = REASONS[start];
    if (entry === undefined) missing.push(text);
    return [shorten(text), ...(entry ?? [])];
  };
  const texts = {
    codes: toRows(
      Object.entries(CODES).map(([code, entry]) => [
        `${ERRORS[code as ErrorCode].status} ${code}`,
        ...entry,
      ]),
    ),
    'key reasons': toRows(Object.entries(KEY_REASONS).map(([reason, entry]) => [reason, ...entry])),
    reasons: toRows([...messages].map(find)),
    'reasons of PostgreSQL': toRows(read.map(find)),
    'reasons of SQLite': toRows(
      [...new Set(EXPLANATIONS.values())].map((text) =>
        find(text).map((cell) =>
          cell.startsWith('psql') ? 'fuser -v /var/lib/petstore/petstore.db' : cell,
        ),
      ),
    ),
    alerts: toTable(['alert', 'what it says', 'remedy'], readAlerts()),
  };
  if (missing.length > 0) throw new Error(`${PAGE} lacks: ${missing.join('\n')}`);
  const old = Object.keys(REASONS).filter((start) => !used.has(start));
  if (old.length > 0) throw new Error(`${PAGE} has old texts: ${old.join('\n')}`);
  return texts;
}

/** SQL of a message is long, and stands in the message itself. */
const shorten = (text: string) => text.replace(/: select .*/s, ': select …');

function toRows(rows: readonly (readonly string[])[]): string {
  const cells = rows.map(([text = '', cause = '', look = '', remedy = '']) => [
    ...[toCode(text), cause, toCode(look), remedy],
  ]);
  return toTable(['text', 'cause', 'what shows it', 'remedy'], cells);
}

/** What src/ says where no table has it: the reason of a 503, the line of a warning. A value is shown as `…`. */
function readMessages(): string[] {
  const files = globSync('src/{http,service,storage}/**/*.ts', { cwd: ROOT }).sort();
  const before =
    /'unavailable', |\b(?:message|what|cause) =\s*(?:\w+\s+\? )?(?:'[^']+'\s+: )?|\b(?:warn|error)\(\s*/;
  const message = new RegExp(`(?<=${before.source})(?:'([^']+)'|\`([^\`]+)\`)`, 'g');
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(message)].flatMap(
      ([, plain, text = plain ?? '']) => {
        const shown = text.replace(/\$\{[^}]*\}/g, '…');
        return /^(?:…|its? |the database …)/.test(shown) ? [] : [shown];
      },
    ),
  );
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
