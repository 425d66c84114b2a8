/** Files of pets: read and written in the format of `--format`, or else in the format of their ending. */

import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CSV_HEADER, readCsv, toCsvRow } from '../../csv.ts';
import { PetstoreError } from '../../error.ts';
import { type Pet, toPetJson } from '../../pet.ts';
import type { PetRow } from '../../rows.ts';
import { writePrivateFile } from '../../storage/private-file.ts';
import { readJsonArray, readNdjson, readText } from './read.ts';

const toPetLine = (pet: Pet) => `${toPetJson(pet)}\n`;

const NDJSON = { read: readNdjson, head: '', row: toPetLine, separator: '', tail: '' };

/** By the endings of files. */
const FORMATS = {
  ndjson: NDJSON,
  jsonl: NDJSON,
  json: { read: readJsonArray, head: '[\n', row: toPetJson, separator: ',\n', tail: '\n]\n' },
  csv: { read: readCsv, head: CSV_HEADER, row: toCsvRow, separator: '', tail: '' },
};

type PetFormatName = keyof typeof FORMATS;
type PetFormat = (typeof FORMATS)[PetFormatName];
export const PET_FORMATS = Object.keys(FORMATS) as PetFormatName[];

const ENDING_LIST = PET_FORMATS.map((name) => `.${name}`).join(', ');
export const ENDINGS_HELP = `its ending names the format: ${ENDING_LIST}`;

/** Less is not written at once, because each write has a fixed cost. */
const WRITE_CHARACTERS_MIN = 65_536;

/** A file; without a format its ending names the format. */
export interface PetFile {
  /** `-` is standard input. */
  readonly file: string;
  readonly format?: PetFormatName | undefined;
}

/**
 * The rows of the file in its order, read as they are consumed.
 *
 * @throws PetstoreError `bad_request` for an unknown ending, a file that cannot be read, and a line after which no
 *   row can be found.
 */
export function readRows(petFile: PetFile): AsyncIterable<PetRow> {
  return getFormat(petFile).read(readText(petFile.file));
}

/** A file to write; without a file standard output. */
export type TargetFile = Pick<PetFile, 'format'> & { readonly file?: string | undefined };

/**
 * Writes all the pets. The file is replaced when they are on the disk, and unchanged if anything fails. Without a file,
 * writes NDJSON by default to `stdout`, until its reader closes it.
 *
 * @throws PetstoreError `bad_request` for an unknown ending, or if the file cannot be written.
 */
export async function writePets(
  { file, format }: TargetFile,
  pets: AsyncIterable<Pet>,
  stdout: Writable = process.stdout,
): Promise<void> {
  if (file === undefined) {
    await writeStream(stdout, toText(FORMATS[format ?? 'ndjson'], pets));
    return;
  }
  const text = toText(getFormat({ file, format }), pets);
  await writePrivateFile(file, (partial) => writeFile(partial, text), { replace: true });
}

function getFormat({ file, format }: PetFile): PetFormat {
  const ending = extname(file).toLowerCase();
  const name = format ?? PET_FORMATS.find((one) => ending === `.${one}`);
  if (name !== undefined) return FORMATS[name];
  throw new PetstoreError(
    'bad_request',
    `the name of the file must end with one of ${ENDING_LIST}, or --format must name the format`,
  );
}

async function writeStream(stream: Writable, text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(text, stream, { end: false });
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
