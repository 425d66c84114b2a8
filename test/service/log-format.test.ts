/** The lines of the log: JSON for programs, text for a person, and none is lost at the end. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { RequestLine } from '../../src/log.ts';
import { createTextLines, type LogFormat } from '../../src/service/log-format.ts';
import { createLog, openLog } from '../../src/service/open-log.ts';

process.env.FORCE_COLOR = '0';

const LOG = new URL('../../src/service/open-log.ts', import.meta.url).href;

const DONE: RequestLine = {
  client: '127.0.0.1',
  method: 'GET',
  route: '/v1/pets',
  status: 200,
  ms: 0.31249,
  requestId: 'a-1',
  keyId: 1,
};
const REFUSED: RequestLine = {
  ...DONE,
  status: 400,
  keyId: null,
  refusal: { code: 'bad_request', reason: 'unexpected "\n\x1b[31m' },
};
const { method, route, ms, ...UNPARSED } = REFUSED;
const FAILED: RequestLine = {
  ...DONE,
  status: 500,
  refusal: { code: 'internal_error', err: new Error('broken', { cause: new Error('disk') }) },
};
/** An error of a library, with more in it than a log may have. */
const LOADED = Object.assign(new TypeError('no'), { code: 'E1', detail: 'Rumpelstiltskin' });

/** The lines of that level and above. */
function write(level: 'info' | 'warn' | 'error' | 'silent', format?: LogFormat): string[] {
  const lines: string[] = [];
  const log = createLog(level, (line) => lines.push(line), format);
  log.request(DONE);
  log.request(REFUSED);
  log.request(UNPARSED);
  log.request(FAILED);
  log.info('stopping');
  log.warn('not written', { err: LOADED, keyId: 7 });
  log.error('worker "1" ended', { err: 'a text' });
  return lines;
}

test('JSON lines › of requests and events › have these members, one object a line', () => {
  const lines = write('info');
  assert.ok(lines.every((line) => /^[^\n]+\n$/.test(line)));
  const parsed = lines.map((line) => JSON.parse(line));
  for (const { time, pid } of parsed) {
    assert.equal(new Date(time).toISOString(), time);
    assert.equal(pid, process.pid);
  }
  const members = parsed.map(({ time, pid, ...rest }) => rest);
  const [done, refused, unparsed, failed, info, warn, error] = members;
  assert.deepEqual(done, { ...DONE, level: 'info', ms: 0.312 });
  const { refusal } = REFUSED;
  assert.deepEqual(refused, { ...done, status: 400, keyId: null, ...refusal });
  assert.deepEqual(Object.keys(unparsed).slice(0, 3), ['level', 'client', 'status']);
  assert.equal(failed.level, 'error');
  assert.equal(failed.err.message, 'broken');
  assert.match(failed.err.stack, /^Error: broken\n[\s\S]*\ncaused by Error: disk\n/);
  assert.deepEqual(info, { level: 'info', msg: 'stopping' });
  assert.deepEqual(
    { ...warn, err: { ...warn.err, stack: '' } },
    { level: 'warn', keyId: 7, msg: 'not written', err: { message: 'no', code: 'E1', stack: '' } },
  );
  assert.deepEqual(error.err, { message: 'a text', stack: '' });
  assert.doesNotMatch(lines.join(''), /Rumpelstiltskin/);
});

test('JSON lines › of two milliseconds › each have their own time', (t) => {
  const times = [0, 0, 1, 2].map((ms) => Date.UTC(2026, 10, 29) + ms);
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  for (const ms of times) {
    t.mock.method(Date, 'now', () => ms);
    log.info('stopping');
  }
  const logged = lines.map((line) => Date.parse(JSON.parse(line).time));
  assert.deepEqual(logged, times);
});

test('log › at each level › has the lines of this level and above', () => {
  const counts = (['info', 'warn', 'error', 'silent'] as const).map((level) => write(level).length);
  assert.deepEqual(counts, [7, 3, 2, 0]);
});

test('text lines › without colours › are what a person reads, and act on no terminal', () => {
  const lines = write('info', createTextLines());
  for (const [index, pattern] of [
    /^\d\d:\d\d:\d\d GET \/v1\/pets 200 0\.3 ms key 1\n$/,
    /^\S+ GET \/v1\/pets 400 0\.3 ms from 127\.0\.0\.1: bad_request unexpected " {2}\[31m\n$/,
    /^\S+ - - 400 from 127\.0\.0\.1: bad_request /,
    /^\S+ GET \/v1\/pets 500 0\.3 ms key 1 from 127\.0\.0\.1: internal_error\nError: broken\n/,
    /^\S+ info stopping\n$/,
    /^\S+ warn not written, keyId 7\nTypeError: no\n/,
    /^\S+ error worker "1" ended\n/,
  ].entries()) {
    assert.match(lines[index] ?? '', pattern);
  }
  assert.ok(!lines.join('').includes('\x1b'));
});

test('text lines › with characters that a terminal acts on › show a space in the place of each, and keep the lines of a stack', () => {
  // Carriage return, escape, separators, directions, zero width, and a tag of language.
  for (const character of '\r\x1b\u2028\u2029\u202e\u2067\u200b\u{e0041}') {
    const sent = `a${character}b`;
    const message = `${sent}\nat d`;
    const cause = Object.assign(new Error(message), { stack: `Error: ${message}\n\tat c` });
    const err = Object.assign(new Error('-', { cause }), { stack: `Error: ${sent}\n\tat c` });
    const lines: string[] = [];
    const log = createLog('info', (line) => lines.push(line), createTextLines());
    const refusal = { code: 'internal_error', reason: sent, err } as const;
    log.request({ ...FAILED, client: sent, refusal });
    log.warn(`a\n${sent}`, { signal: sent, err });
    assert.match(
      lines[0] ?? '',
      /^\S+ GET .* from a b: internal_error a b\nError: a b\n at c\ncaused by Error: a b at d\n at c\n$/,
    );
    assert.match(
      lines[1] ?? '',
      /^\S+ warn a a b, signal a b\nError: a b\n at c\ncaused by Error: a b at d\n at c\n$/,
    );
  }
});

for (const terminal of ['stdout', 'stderr'] as const) {
  test(`openLog › only ${terminal} is a terminal › says the start on standard output`, (t) => {
    const stdout = Object.assign(new PassThrough(), { isTTY: terminal === 'stdout' });
    const stderr = Object.assign(new PassThrough(), { isTTY: terminal === 'stderr' });
    t.mock.getter(process, 'stdout', () => stdout);
    t.mock.getter(process, 'stderr', () => stderr);
    openLog('info').say('it listens', { api: 'http://a' });
    assert.equal(String(stdout.read()), 'it listens\n  api  http://a\n');
  });
}

test('log › of a process that ends at once › has its last line', () => {
  const program = `import { openLog } from '${LOG}'; openLog('info').log.info('last'); process.exit(3);`;
  const args = ['--input-type=module', '--eval', program];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 3, stderr);
  assert.equal(JSON.parse(stderr).msg, 'last');
});
