/** Files of pets: what a CSV or JSON file has, whether the store has its first pets, and a CSV file to keep. */

import { toJson } from '../../client/petstore-client.ts';
import { readCsv, UnknownColumnsError } from '../csv-read.ts';
import { createCsvFormat } from '../csv-write.ts';
import { cut } from '../error.ts';
import { type NewPet, type Pet, parsePetRow } from '../pet.ts';
import { PAGE_LIMIT_MAX } from '../pet-query.ts';
import { toPrintable } from '../printable.ts';
import { COMPARED_PETS, decodeText, parseRows, readJsonRows } from '../rows.ts';
import { createClient } from './client.ts';

const FILE_MIB_MAX = 4;

const LOOKED_THROUGH = 5_000;

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

export type PetFile = Awaited<ReturnType<typeof readFile>>;

/** @throws Error that names the first wrong rows, or with an UnknownColumnsError as its cause. */
export async function readFile(file: File, ignoresColumns: boolean) {
  const { name } = file;
  if (file.size > FILE_MIB_MAX * 1024 * 1024) {
    throw new Error(`${name} has more than ${FILE_MIB_MAX} MiB: use petstore pets import.`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parsed = await parsePets(name, bytes, ignoresColumns);
  // The same id for the same bytes.
  return { name, id: hash(bytes), ignoresColumns, ...parsed };
}

async function parsePets(name: string, bytes: Uint8Array, ignoresColumns: boolean) {
  const lines: string[] = [];
  try {
    const text = (await Array.fromAsync(decodeText([bytes]))).join('');
    const format = /\.json$/i.test(name) || /^\s*[[{]/.test(text) ? 'json' : 'csv';
    const rows = format === 'json' ? readJsonRows(text) : readCsv([text], ignoresColumns);
    const parsed = parseRows(rows, parsePetRow, (line) => lines.push(line));
    const pets = await Array.fromAsync(parsed);
    if (pets.length > 0) return { format, pets, warnings: lines } as const;
    throw new Error('the file has no pets');
  } catch (cause) {
    const reason =
      cause instanceof UnknownColumnsError ? describe(cause) : (cause as Error).message;
    throw new Error([`Nothing was added: ${reason}`, ...lines].join('\n'), { cause });
  }
}

function describe({ columns }: UnknownColumnsError): string {
  const names = columns.map((name) => toPrintable(`"${cut(name)}"`));
  return `no pet has these columns: ${names.join(', ')}`;
}

/** FNV-1a of 64 bits. Browsers have SHA-256 only on pages with HTTPS. */
function hash(bytes: Uint8Array): string {
  let value = FNV_OFFSET;
  for (const byte of bytes) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * FNV_PRIME);
  return value.toString(16);
}

/** How many of the first pets of the file the store has, if it has all of them; else 0. */
export async function countKnown({ pets }: PetFile, signal: AbortSignal): Promise<number> {
  const toText = (pet: NewPet) => toJson({ ...pet, id: 0 });
  const first = pets.slice(0, COMPARED_PETS);
  const missing = new Set(first.map(toText));
  let left = LOOKED_THROUGH;
  const stored = createClient('from-file').list({ limit: PAGE_LIMIT_MAX, signal });
  for await (const pet of stored) {
    missing.delete(toText(pet));
    left -= 1;
    if (missing.size === 0) return first.length;
    if (left === 0) break;
  }
  return 0;
}

export const PLAIN = createCsvFormat(false, ',');
/** As `pets export --excel` writes it. A name with control characters is there too, which a spreadsheet then changes. */
export const FOR_SPREADSHEETS = createCsvFormat(true, ';', false);

/** Lets the browser keep the pets as a CSV file. @param tell called with the number of pets so far. */
export async function keepCsv(
  name: string,
  csv: typeof PLAIN,
  pets: AsyncIterable<Pet>,
  tell?: (count: number) => void,
): Promise<void> {
  const rows: string[] = [];
  for await (const pet of pets) {
    rows.push(csv.row(pet));
    tell?.(rows.length);
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csv.head, ...rows], { type: 'text/csv' }));
  link.download = name;
  link.click();
  // Browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
