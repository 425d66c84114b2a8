/** Files of pets: read and written in the format of `--format`, or else in the format of their ending. */

import { createWriteStream, statSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readCsv } from '../csv-read.ts';
import { createCsvFormat } from '../csv-write.ts';
import { badRequest, PetstoreError } from '../error.ts';
import { parseJson } from '../json.ts';
import { MIB } from '../limit.ts';
import { type Pet, toPetJson } from '../pet.ts';
import { decodeText, type FileRow, type Pieces, readJsonRows, splitRows } from '../rows.ts';
import { describeFileError, writePrivateFile } from '../storage/private-file.ts';
import { writeOutput } from './standard-output.ts';

const STANDARD_STREAM = '-';
/** If it is a file, it keeps what the shell has sent there before. */
const STANDARD_OUTPUT = /^(?:-|\/dev\/stdout|(?:\/dev|\/proc\/self)\/fd\/1)$/;
/** It has no file of its own: to replace it would take the file that the shell has open. */
const OPEN_FILE = /^\/(?:dev\/std\w+|(?:dev|proc\/.*)\/fd\/\d+)$/;
/** The import of a file of 64 MiB takes 0.8 to 1.1 GB of memory. */
const JSON_MIB_MAX = 64;
/** 64 MiB of pets have fewer values. A file of 33 million numbers took 3 GB, and 9 minutes. */
const FILE_VALUES_MAX = 5_000_000;
/** Less is not written at once, because each write has a fixed cost. */
const WRITE_CHARACTERS_MIN = 65_536;

const toPetLine = (pet: Pet) => `${toPetJson(pet)}\n`;
const NDJSON = { read: readNdjson, head: '', row: toPetLine, separator: '', tail: '' };
const CSV = { read: readCsv, separator: '', tail: '' };

/** By the endings of files. The last two are CSV for spreadsheets that write 1,5 or 1.5. */
const FORMATS = {
  ndjson: NDJSON,
  jsonl: NDJSON,
  json: { read: readJsonArray, head: '[\n', row: toPetJson, separator: ',\n', tail: '\n]\n' },
  csv: { ...CSV, ...createCsvFormat(false, ',') },
  excel: { ...CSV, ...createCsvFormat(true, ';') },
  'excel-comma': { ...CSV, ...createCsvFormat(true, ',') },
};

type PetFormatName = keyof typeof FORMATS;
type PetFormat = (typeof FORMATS)[PetFormatName];
export const PET_FORMATS = Object.keys(FORMATS) as PetFormatName[];

const ENDINGS = PET_FORMATS.slice(0, PET_FORMATS.indexOf('excel'));
const ENDING_LIST = ENDINGS.map((name) => `.${name}`).join(', ');
export const ENDINGS_HELP = `its ending names the format: ${ENDING_LIST}`;

/** Without a format, the ending of the file names the format, or it is NDJSON if there is no file. */
export interface PetFileOptions {
  /** `-`, or none, is standard input or output. */
  readonly file?: string | undefined;
  readonly format?: PetFormatName | undefined;
  readonly ignoreColumns?: boolean | undefined;
  /** Whether the rows correct pets. */
  readonly update?: boolean | undefined;
}

/**
 * The rows of the file in its order, read as they are consumed.
 *
 * @throws PetstoreError `bad_request` for an unknown ending, a workbook, a file that cannot be read, and a line after
 *   which no row can be found.
 */
export function readRows(petFile: PetFileOptions): AsyncIterable<FileRow> {
  const { file = STANDARD_STREAM, format, ignoreColumns, update } = petFile;
  if (!format && /\.(?:xls[bmx]?|ods)$/i.test(file)) {
    throw badRequest(`${file} is a workbook: save it as "CSV UTF-8"`);
  }
  const { read }: { readonly read: typeof readCsv } = getFormat(petFile);
  return read(readText(file), ignoreColumns, update);
}

export function isCsv(petFile: PetFileOptions): boolean {
  return getFormat(petFile).read === readCsv;
}

/**
 * Writes all the pets. A file is replaced when they are on the disk, and unchanged if anything fails.
 *
 * @throws PetstoreError `bad_request` for an unknown ending, or if the file cannot be written.
 */
export async function writePets(target: PetFileOptions, pets: AsyncIterable<Pet>): Promise<void> {
  const { file = STANDARD_STREAM } = target;
  const text = toText(getFormat(target), pets);
  if (isStream(file)) return writeStream(text, file);
  const write = (partial: string) => writeFile(partial, text);
  await writePrivateFile(file, write, { replace: true });
}

/** Whether the file is written to, as standard output, pipes and devices are, and never replaced. */
export function isStream(file = STANDARD_STREAM): boolean {
  if (STANDARD_OUTPUT.test(file)) return true;
  const stats = statSync(file, { throwIfNoEntry: false });
  const isOpenFile = stats?.isFile() && OPEN_FILE.test(file);
  if (stats?.isSocket() || stats?.isBlockDevice() || isOpenFile) {
    throw badRequest(`${file} is a socket, a disk or an open file: name a file, or -`);
  }
  return stats?.isFIFO() === true || stats?.isCharacterDevice() === true;
}

function getFormat({ file = STANDARD_STREAM, format }: PetFileOptions): PetFormat {
  const ending = file === STANDARD_STREAM ? '.ndjson' : extname(file).toLowerCase();
  const name = format ?? ENDINGS.find((one) => ending === `.${one}`);
  if (name !== undefined) return FORMATS[name];
  throw badRequest(
    `the name of the file must end with one of ${ENDING_LIST}, or --format must name the format`,
  );
}

async function writeStream(text: AsyncIterable<string>, file: string): Promise<void> {
  try {
    if (!STANDARD_OUTPUT.test(file)) await pipeline(text, createWriteStream(file));
    else for await (const piece of text) await writeOutput(piece);
  } catch (error) {
    // The reader has closed its end, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

async function* toText(format: PetFormat, pets: AsyncIterable<Pet>): AsyncGenerator<string> {
  let text = format.head;
  let separator = '';
  for await (const pet of pets) {
    text += separator + format.row(pet);
    separator = format.separator;
    if (text.length >= WRITE_CHARACTERS_MIN) {
      yield text;
      text = '';
    }
  }
  yield text + format.tail;
}

async function* readText(file: string): AsyncGenerator<string> {
  try {
    yield* decodeText(file === STANDARD_STREAM ? process.stdin : readChunks(file));
  } catch (cause) {
    if (cause instanceof PetstoreError) throw cause;
    const what = file === STANDARD_STREAM ? 'standard input' : file;
    const why = describeFileError(cause as NodeJS.ErrnoException, 'read');
    throw badRequest(`${what} ${why}`, { cause });
  }
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array> {
  await using handle = await open(file);
  yield* handle.createReadStream({ autoClose: false });
}

async function* readNdjson(pieces: Pieces): AsyncGenerator<FileRow> {
  for await (const { place, text } of splitRows(pieces, false)) {
    yield { place, read: () => parseJson(text) };
  }
}

async function* readJsonArray(pieces: Pieces): AsyncGenerator<FileRow> {
  let bytes = 0;
  let text = '';
  for await (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    if (bytes > JSON_MIB_MAX * MIB) {
      const reason = `a JSON file may have at most ${JSON_MIB_MAX} MiB: use NDJSON for more pets`;
      throw badRequest(reason);
    }
    text += piece;
  }
  yield* readJsonRows(text, FILE_VALUES_MAX);
}
