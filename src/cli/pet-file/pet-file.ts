/** Files of pets: read and written in the format of `--format`, or else in the format of their ending. */

import { rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CSV_HEADER, readCsv, toCsvRow } from '../../csv.ts';
import { PetstoreError } from '../../error.ts';
import { type Pet, toPetJson } from '../../pet.ts';
import type { PetRow } from '../../rows.ts';
import { PRIVATE_FILE_MODE, withPartial } from '../../storage/private-file.ts';
import { readJsonArray, readNdjson, readText, toFileError } from './read.ts';

const toPetLine = (pet: Pet) => `${toPetJson(pet)}\n`;

const FORMATS = {
  csv: { read: readCsv, head: CSV_HEADER, row: toCsvRow, separator: '', tail: '' },
  json: { read: readJsonArray, head: '[\n', row: toPetJson, separator: ',\n', tail: '\n]\n' },
  ndjson: { read: readNdjson, head: '', row: toPetLine, separator: '', tail: '' },
};

type PetFormatName = keyof typeof FORMATS;
type PetFormat = (typeof FORMATS)[PetFormatName];
export const PET_FORMATS = Object.keys(FORMATS) as PetFormatName[];

const ENDINGS: Readonly<Record<string, PetFormatName>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
};

const ENDING_LIST = Object.keys(ENDINGS).join(', ');
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
  if (file === undefined) await writeStream(stdout, toText(FORMATS[format ?? 'ndjson'], pets));
  else await replaceFile(file, toText(getFormat({ file, format }), pets));
}

function getFormat({ file, format }: PetFile): PetFormat {
  const name = format ?? ENDINGS[extname(file).toLowerCase()];
  if (name !== undefined) return FORMATS[name];
  throw new PetstoreError(
    'bad_request',
    `the name of the file must end with one of ${ENDING_LIST}, or --format must name the format`,
  );
}

async function replaceFile(file: string, text: AsyncIterable<string>): Promise<void> {
  try {
    await withPartial(file, async (partial) => {
      // The file must be new: no link is followed.
      await writeFile(partial, text, { flag: 'wx', mode: PRIVATE_FILE_MODE, flush: true });
      await rename(partial, file);
    });
  } catch (cause) {
    throw toFileError(cause, `${file} cannot be written`);
  }
}

async function writeStream(stream: Writable, text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(text, stream, { end: false });
  } catch (cause) {
    // The reader has closed its end, as `head` does.
    if ((cause as NodeJS.ErrnoException).code === 'EPIPE') return;
    throw toFileError(cause, 'standard output cannot be written');
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
