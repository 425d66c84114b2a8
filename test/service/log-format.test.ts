/** The lines of the log: JSON for programs, text for a person. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestLine } from '../../src/log.ts';
import { createTextLines, type LogFormat } from '../../src/service/log-format.ts';
import { createLog } from '../../src/service/open-log.ts';

process.env.FORCE_COLOR = '0';

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
  const [done, refused, failed, info, warn, error] = parsed.map(({ time, pid, ...rest }) => rest);
  const { ms, ...same } = DONE;
  assert.deepEqual(done, { level: 'info', ...same, ms: 0.312 });
  assert.deepEqual(refused, {
    level: 'info',
    ...same,
    ms: 0.312,
    status: 400,
    keyId: null,
    ...REFUSED.refusal,
  });
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

test('log › at each level › has the lines of this level and above', () => {
  const levels = ['info', 'warn', 'error', 'silent'] as const;
  assert.deepEqual(
    levels.map((level) => write(level).length),
    [6, 3, 2, 0],
  );
});

test('text lines › without colours › are what a person reads, and act on no terminal', () => {
  const [done, refused, failed, info, warn, error] = write('info', createTextLines());
  assert.match(done ?? '', /^\d\d:\d\d:\d\d GET \/v1\/pets 200 0\.3 ms key 1\n$/);
  assert.match(
    refused ?? '',
    /^\d\d:\d\d:\d\d GET \/v1\/pets 400 0\.3 ms from 127\.0\.0\.1: bad_request unexpected " {2}\[31m\n$/,
  );
  assert.match(
    failed ?? '',
    /^\S+ GET \/v1\/pets 500 0\.3 ms key 1 from 127\.0\.0\.1: internal_error\nError: broken\n/,
  );
  assert.match(info ?? '', /^\S+ info stopping\n$/);
  assert.match(warn ?? '', /^\S+ warn not written, keyId 7\nTypeError: no\n/);
  assert.match(error ?? '', /^\S+ error worker "1" ended\n/);
  assert.ok(!write('info', createTextLines()).join('').includes('\x1b'));
});

test('text lines › with characters that a terminal acts on › show a space in the place of each, and keep the lines of a stack', () => {
  // Carriage return, escape, separators, directions, zero width, and a tag of language.
  for (const character of '\r\x1b\u2028\u2029\u202e\u2067\u200b\u{e0041}') {
    const sent = `a${character}b`;
    const err = Object.assign(new Error('-'), { stack: `Error: ${sent}\n\tat c` });
    const lines: string[] = [];
    const log = createLog('info', (line) => lines.push(line), createTextLines());
    log.request({
      ...FAILED,
      client: sent,
      refusal: { code: 'internal_error', reason: sent, err },
    });
    log.warn(`a\n${sent}`, { signal: sent, err });
    assert.match(lines[0] ?? '', /^\S+ GET .* from a b: internal_error a b\nError: a b\n at c\n$/);
    assert.match(lines[1] ?? '', /^\S+ warn a a b, signal a b\nError: a b\n at c\n$/);
  }
});

test('text lines › with colours › colour the status', (t) => {
  t.mock.property(process, 'env', { FORCE_COLOR: '1' });
  const [done = '', refused = '', failed = ''] = write('info', createTextLines());
  assert.ok(done.includes('\x1b[32m200\x1b[39m'));
  assert.ok(refused.includes('\x1b[33m400\x1b[39m'));
  assert.ok(failed.includes('\x1b[31m500\x1b[39m'));
});

test('text lines › of what the parser refused › need no method, route or time', () => {
  const lines: string[] = [];
  const { method, route, ms, ...rest } = REFUSED;
  createLog('info', (line) => lines.push(line), createTextLines()).request(rest);
  assert.match(lines[0] ?? '', /^\S+ - - 400 from 127\.0\.0\.1: bad_request /);
});
