/** How lines reach a file or a pipe, whatever its reader does; with real files and FIFOs. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogWriter } from '../../src/service/log-writer.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

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
