/** The stores: files and databases with so many animals and a key; who serves them is not known here. */

import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PET_STATUSES, type PetStatus } from '../src/pet.ts';
import { type Cluster, queryOnce, startCluster } from '../test/support/postgres-cluster.ts';
import { MAIN } from './servers.ts';

export interface Store {
  readonly address: string;
  /** Of SQLite; empty for PostgreSQL. */
  readonly file: string;
  readonly key: string;
  countAnimals(): Promise<number>;
}

/** An animal as answers have it. */
export interface Animal {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: PetStatus;
}

/** The animal with this id; the statuses take turns. */
export function toAnimal(id: number): Animal {
  const status = PET_STATUSES[id % PET_STATUSES.length] as PetStatus;
  return { id, name: `Animal ${id}`, categoryId: id % 50, status };
}

const ROWS_AT_ONCE = 10_000;

/** Makes stores in a folder that goes with it. */
export class Stores implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  readonly #originals = new Map<number, Store>();
  #cluster: Cluster | undefined;
  #count = 0;

  constructor() {
    process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** A new file of so many animals, with the ids from 1. */
  async create(animals: number): Promise<Store> {
    let original = this.#originals.get(animals);
    if (original === undefined) {
      const file = join(this.folder, `${animals}.db`);
      original = toSqlite(file, await this.#fill(`sqlite:${file}`, animals));
      this.#originals.set(animals, original);
    }
    this.#count += 1;
    const copy = join(this.folder, `${animals}-${this.#count}.db`);
    copyFileSync(original.file, copy, constants.COPYFILE_FICLONE);
    return toSqlite(copy, original.key);
  }

  /** The same in a new database of PostgreSQL, whose commits reach the disk. */
  async createInPostgres(animals: number): Promise<Store> {
    this.#cluster ??= await startCluster({ durable: true });
    this.#count += 1;
    const name = `petstore_${this.#count}`;
    await queryOnce(this.#cluster.url(), `create database ${name}`);
    const address = this.#cluster.url(name);
    const key = await this.#fill(address, animals);
    await queryOnce(address, 'vacuum analyze');
    return {
      address,
      file: '',
      key,
      async countAnimals() {
        return Number((await queryOnce(address, 'select count(*) from pets')).rows[0].count);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster?.[Symbol.asyncDispose]();
  }

  /** The key of the store that it made. */
  async #fill(address: string, animals: number): Promise<string> {
    const csv = join(this.folder, 'animals.csv');
    await writeCsv(csv, animals);
    petstore('pets', 'import', csv, '--database', address);
    rmSync(csv);
    return petstore('keys', 'create', '--name', 'bench', '--database', address).trim();
  }
}

/** What a command of the service says. */
function petstore(...args: string[]): string {
  return execFileSync(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString();
}

function toSqlite(file: string, key: string): Store {
  return {
    address: `sqlite:${file}`,
    file,
    key,
    async countAnimals() {
      const database = new DatabaseSync(file, { readOnly: true });
      const row = database.prepare('select count(*) as count from pets').get();
      database.close();
      return Number(row?.count);
    },
  };
}

async function writeCsv(file: string, animals: number): Promise<void> {
  await using csv = await open(file, 'w');
  await csv.write('name,categoryId,status\n');
  for (let first = 1; first <= animals; first += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, animals - first + 1);
    const rows = Array.from({ length: count }, (_, n) => {
      const { name, categoryId, status } = toAnimal(first + n);
      return `${name},${categoryId},${status}\n`;
    });
    await csv.write(rows.join(''));
  }
}

/** What a server with so many animals in memory reads. */
export function writeAnimals(folder: string, animals: number): string {
  const file = join(folder, `${animals}.json`);
  const pets = Array.from({ length: animals }, (_, n) => toAnimal(n + 1));
  writeFileSync(file, JSON.stringify({ pets }));
  return file;
}
