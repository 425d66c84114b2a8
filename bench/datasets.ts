/** The datasets: files of SQLite and databases of PostgreSQL with a number of pets and a key. */

import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { PET_STATUSES, type PetStatus } from '../src/pet.ts';
import { type Cluster, queryOnce, startCluster } from '../test/support/postgres-cluster.ts';
import { MAIN } from '../test/support/program.ts';
import { createProcessFolder } from '../test/support/temporary-folder.ts';

export interface Dataset {
  readonly address: string;
  /** The file of SQLite; empty for PostgreSQL. */
  readonly file: string;
  readonly key: string;
}

/** A pet of an answer. */
export interface DatasetPet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: PetStatus;
}

/** The pet with this id; its status depends on the id. */
export function createPet(id: number): DatasetPet {
  const status = PET_STATUSES[id % PET_STATUSES.length] as PetStatus;
  return { id, name: `Pet ${id}`, categoryId: id % 50, status };
}

const ROWS_AT_ONCE = 10_000;

/** Makes datasets, in a temporary folder that is removed at the end. */
export class Datasets implements AsyncDisposable {
  readonly folder = createProcessFolder();
  readonly #originals = new Map<number, Dataset>();
  #cluster: Cluster | undefined;
  #count = 0;

  /** A new file with so many pets. Their ids count from 1. */
  async create(pets: number): Promise<Dataset> {
    let original = this.#originals.get(pets);
    if (original === undefined) {
      const file = join(this.folder, `${pets}.db`);
      original = toSqlite(file, await this.#fill(`sqlite:${file}`, pets));
      this.#originals.set(pets, original);
    }
    this.#count += 1;
    const copy = join(this.folder, `${pets}-${this.#count}.db`);
    copyFileSync(original.file, copy, constants.COPYFILE_FICLONE);
    return toSqlite(copy, original.key);
  }

  /** The same pets in a new database of PostgreSQL, which syncs its commits to the disk. */
  async createInPostgres(pets: number): Promise<Dataset> {
    this.#cluster ??= await startCluster({ durable: true });
    return this.createIn(this.#cluster, pets);
  }

  async createIn(cluster: Cluster, pets: number): Promise<Dataset> {
    this.#count += 1;
    const name = `petstore_${this.#count}`;
    await queryOnce(cluster.url(), `create database ${name}`);
    const address = cluster.url(name);
    const key = await this.#fill(address, pets);
    await queryOnce(address, 'vacuum analyze');
    return { address, file: '', key };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster?.[Symbol.asyncDispose]();
  }

  /** Imports the pets, and returns the text of a key that it makes. */
  async #fill(address: string, pets: number): Promise<string> {
    const csv = join(this.folder, 'pets.csv');
    await writeCsv(csv, pets);
    petstore('pets', 'import', csv, '--database', address);
    rmSync(csv);
    return petstore('keys', 'create', '--name', 'bench', '--database', address).trim();
  }
}

/** The standard output of a command of the service. */
function petstore(...args: string[]): string {
  return execFileSync(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString();
}

function toSqlite(file: string, key: string): Dataset {
  return { address: `sqlite:${file}`, file, key };
}

async function writeCsv(file: string, pets: number): Promise<void> {
  await using csv = await open(file, 'w');
  await csv.write('name,categoryId,status\n');
  for (let first = 1; first <= pets; first += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, pets - first + 1);
    const rows = Array.from({ length: count }, (_, n) => {
      const { name, categoryId, status } = createPet(first + n);
      return `${name},${categoryId},${status}\n`;
    });
    await csv.write(rows.join(''));
  }
}

/** A JSON file with so many pets, for a server that keeps them in memory. */
export function writePets(folder: string, count: number): string {
  const file = join(folder, `${count}.json`);
  const pets = Array.from({ length: count }, (_, n) => createPet(n + 1));
  writeFileSync(file, JSON.stringify({ pets }));
  return file;
}
