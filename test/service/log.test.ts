/** The log: JSON for programs, text for a person; how its lines reach a file or a pipe, with real files and FIFOs, and that none is lost at the end. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestLine } from '../../src/log.ts';
import { createTextLines, type LogFormat } from '../../src/service/log-format.ts';
import { LogWriter } from '../../src/service/log-writer.ts';
import { createLog, openLog } from '../../src/service/open-log.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

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

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const line = (number: number) => `${number} 🐈\n`;
const describeDropped = (count: number) => `${count} dropped\n`;
const LONG = 1_001;
/** The long lines that the buffer has room for; some room is left for a short line. */
const KEPT = Math.floor((8 * 1024 * 1024) / LONG);

const folder = createProcessFolder();
let count = 0;

/** A writer to a pipe that holds 64 KiB and lets nobody wait; both ends are closed after the test. */
function openPipe(t: TestContext) {
  count += 1;
  const path = join(folder, `pipe-${count}`);
  execFileSync('mkfifo', [path]);
  const openReader = () => openSync(path, O_RDONLY | O_NONBLOCK);
  let reader: number | undefined = openReader();
  const fd = openSync(path, O_WRONLY | O_NONBLOCK);
  const writer = new LogWriter(fd, describeDropped);
  const closeReader = () => {
    if (reader !== undefined) closeSync(reader);
    reader = undefined;
  };
  t.after(async () => {
    // A writer whose pipe is full tries again until there is no reader.
    closeReader();
    await writer.flush();
    closeSync(fd);
  });
  return { reader, writer, closeReader, openReader };
}

/** What is in the pipe now. */
function readPipe(reader: number, most = 128 * 1024): Buffer {
  const bytes = Buffer.alloc(most);
  try {
    return bytes.subarray(0, readSync(reader, bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    return Buffer.alloc(0);
  }
}

/** What is in the pipe until the writer is flushed. */
async function readAll(reader: number, writer: LogWriter): Promise<string> {
  const parts: Buffer[] = [];
  let isFlushed = false;
  // As by its timer, before the end of a write.
  void writer.flush();
  void writer.flush().then(() => {
    isFlushed = true;
  });
  while (!isFlushed) {
    await sleep(1);
    for (let part = readPipe(reader); part.length > 0; part = readPipe(reader)) parts.push(part);
  }
  parts.push(readPipe(reader));
  return Buffer.concat(parts).toString();
}

test('LogWriter › a line, and one after a flush › is there soon by itself', async (t) => {
  const path = join(folder, 'line');
  const fd = openSync(path, 'w');
  t.after(() => closeSync(fd));
  const writer = new LogWriter(fd, describeDropped);
  const isWritten = (text: string) => until(() => readFileSync(path, 'utf8') === text);
  writer.write(line(1));
  assert.equal(readFileSync(path, 'utf8'), '');
  await isWritten(line(1));
  writer.write(line(2));
  await writer.flush();
  writer.write(line(3));
  await isWritten(line(1) + line(2) + line(3));
});

test('LogWriter › nobody reads › keeps 8 MiB, drops the newest lines and counts them', async (t) => {
  const { reader, writer } = openPipe(t);
  // A write may end within a character.
  const long = (number: number) => `${String(number).padStart(LONG - 1, 'é')}\n`;
  const sent = 20_000;
  // More than the pipe takes: a write is under way, and stays so.
  const early = 200;
  for (let number = 0; number < early; number += 1) writer.write(long(number));
  await sleep(1);
  for (let number = early; number < sent; number += 1) writer.write(long(number));
  // A line behind a dropped line is dropped too, even if there is room for it.
  writer.write('late\n');
  const lines = (await readAll(reader, writer)).trimEnd().split('\n');
  // The last line counts those that are missing.
  const [, dropped] = /^(\d+) dropped$/.exec(lines.pop() ?? '') ?? [];
  assert.equal(lines.length + Number(dropped), sent + 1);
  // The write that is under way is not counted. The line behind the early ones may begin it.
  assert.ok(lines.length >= KEPT && lines.length <= KEPT + early + 1, String(lines.length));
  assert.deepEqual(
    lines.map((each) => `${each}\n`),
    lines.map((_, number) => long(number)),
  );
  writer.write(line(1));
  await writer.flush();
  assert.equal(readPipe(reader).toString(), line(1));
  assert.equal(writer.dropped, Number(dropped));
  // Lines are dropped, counted and taken again as often as it happens.
  for (const times of [1, 2]) {
    writer.write('x'.repeat(8 * 1024 * 1024 + 1));
    await writer.flush();
    assert.equal(readPipe(reader).toString(), describeDropped(1));
    assert.equal(writer.dropped, Number(dropped) + times);
  }
});

test('LogWriter › the reader is gone, and another comes › counts each line, tells of all, and is no failure', async (t) => {
  const { writer, closeReader, openReader } = openPipe(t);
  closeReader();
  // More than is gathered.
  for (let number = 0; number < 10_000; number += 1) writer.write(line(number));
  await writer.flush();
  // The line that tells of them is lost too, and is no line of the log.
  for (const count of [10_000, 10_001, 10_002]) {
    assert.equal(writer.dropped, count);
    writer.write(line(count));
    await writer.flush();
  }
  const other = openReader();
  await writer.flush();
  assert.equal(readPipe(other).toString(), describeDropped(10_003));
  closeSync(other);
  writer.write(line(2));
  writer.flushSync();
});

test('LogWriter › the reader goes in the middle of a line › counts this line once, and another reader gets lines', async (t) => {
  const { reader, writer, closeReader, openReader } = openPipe(t);
  // More than the pipe takes.
  writer.write(`${'x'.repeat(100_000)}\n`);
  await until(() => readPipe(reader, 1).length === 1);
  closeReader();
  // The line that tells of it is lost too, and is no line of the log.
  for (let times = 0; times < 2; times += 1) {
    await writer.flush();
    assert.equal(writer.dropped, 1);
  }
  const text = await readAll(openReader(), writer);
  assert.equal(text.replace(/^x+/, ''), `\n${describeDropped(1)}`);
});
