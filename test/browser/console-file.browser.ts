/** Adding many pets from a CSV or JSON file in the console, in a real browser, against the real program. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import {
  addPet,
  assertAccessible,
  enterKey,
  holdRequests,
  isWarning,
  listPets,
  readColumn,
  readDownload,
  shortenTimers,
  toFile,
  waitForList,
} from '../support/console.ts';
import { describePages } from '../support/page-tests.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const INT64_MAX = '9223372036854775807';
const UNAVAILABLE = { code: 'unavailable', message: 'try again', status: 503 };
const AT_A_TIME = 16;
const EXACT = { exact: true };

const folder = createProcessFolder();
const start = () => startService([], { cwd: folder });

/** A CSV of so many pets, which no other test has. */
function createCsv(prefix: string, count: number): string {
  const rows = Array.from({ length: count }, (_, index) => `${prefix} ${index},${index}`);
  return ['name,categoryId', ...rows, ''].join('\n');
}

/** The request adds one of the first pets of a file. */
const isFirst = (route: Route, count: number) =>
  Number(/ (\d+)"/.exec(route.request().postData() ?? '')?.[1]) < count;

function chooseFile(page: Page, content: string | Buffer): Promise<void> {
  return page.getByLabel('CSV or JSON file').setInputFiles(toFile(content));
}

const addAll = (page: Page) => page.getByRole('button', { name: /^Add \d+ pets?$/ }).click();

async function addFile(page: Page, content: string | Buffer): Promise<void> {
  await chooseFile(page, content);
  await addAll(page);
}

describePages('console, add many', start, (test, stage) => {
  /** The pets whose names begin with the prefix, and their names. */
  async function countAdded(prefix: string) {
    const pets = await listPets(stage.service);
    const names = pets.map((json) => /"name":"([^"]*)"/.exec(json)?.[1] ?? '');
    const added = names.filter((name) => name.startsWith(prefix));
    return { pets: added.length, names: new Set(added).size };
  }

  test('console, add many › files with something wrong › are refused whole, with the lines', async (page, opened) => {
    await page.getByRole('button', { name: 'Add from a file' }).click();
    const wrong = page.locator('#file-form [role=alert]');
    for (const [content, message] of [
      ['name,categoryId,status\n"Mia\nX",3,gone\n', /line 2: status "gone" must be one of/],
      ['[]', /the file has no pets/],
      [Buffer.from('name,categoryId\nM\xfcsli,1\n', 'latin1'), /is not UTF-8: save it as UTF-8 /],
      [
        '[{"name":"Rex","categoryId":1},{"name":""},{"name":"Mia","categoryId":1e30}]',
        /^Nothing was added: 2 rows are wrong\npet 2: name "" must .+\npet 3: categoryId 1e30 must .+$/,
      ],
      [' '.repeat(4 * 1024 * 1024), /line 1: longer than 65536 characters/],
      [' '.repeat(4 * 1024 * 1024 + 1), /has more than 4 MiB: use petstore pets import./],
      [createCsv('x', 25).replaceAll(/,\d+/g, ',1.5'), /(\nline \d+: .+){20}\nand 5 more$/],
    ] as const) {
      await chooseFile(page, content);
      await until(async () => message.test(await wrong.innerText()));
      assert.equal(await page.locator('#found').isVisible(), false);
    }
    await chooseFile(page, 'name,categoryId\nRex,1\n#N/A,1\n');
    await page.getByText('line 3: #N/A comes from a broken formula').waitFor();
    await page.getByText('names its columns: name, categoryId, status (optional).').waitFor();
    const sent = opened.requests.filter((url) => url.includes('/v1/pets') && !url.includes('?'));
    assert.deepEqual(sent, []);
  });

  test('console, add many › columns of no field › are named, and left out if a person wants it', async (page) => {
    await page.getByRole('button', { name: 'Add from a file' }).click();
    const wrong = page.locator('#file-form [role=alert]');
    const leaveOut = page.getByRole('button', { name: 'Leave these columns out' });
    const rows = '"Odd 1",1,5.00,?\n'.repeat(2_001);
    await chooseFile(page, `name,categoryId,price,"so\nnotes"\n${rows}`);
    await leaveOut.waitFor();
    const named = 'Nothing was added: no pet has these columns: "price", "so notes"';
    assert.equal(await wrong.textContent(), named);
    assert.equal(await page.locator('#found').isVisible(), false);
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByText('pets.csv has 2001 pets. The first one: {"name":"Odd 1",').waitFor();
    await page.getByText('petstore pets import pets.csv --ignore-columns', EXACT).waitFor();
    await assertAccessible(page);
    await chooseFile(page, 'nmae,categoryId\nOdd 2,1\n');
    await leaveOut.click();
    await page.getByText('line 1: the header must have the column "name"').waitFor();
    assert.equal(await leaveOut.isVisible(), false);
    await chooseFile(page, 'name,categoryId,price\nOdd 3,1,5.00\n');
    await leaveOut.click();
    await addAll(page);
    await page.getByText('1 of 1 added.').waitFor();
    assert.deepEqual(await countAdded('Odd'), { pets: 1, names: 1 });
  });

  test('console, add many › a file that is dropped, and then chosen again › is added once, exactly', async (page) => {
    const file = join(folder, 'pets.csv');
    const rex = `"name":"Drop \\"1\\", 1","categoryId":${INT64_MAX},"status":"sold"`;
    const mia = `"name":"Drop 2","categoryId":-${INT64_MAX}`;
    writeFileSync(
      file,
      `\uFEFFname;categoryId;status\r\n"Drop ""1"", 1";${INT64_MAX};sold\r\n${`Drop 2;-${INT64_MAX};\r\n`.repeat(2)}`,
    );
    const count = async (members: string) =>
      (await listPets(stage.service)).filter((pet) => pet.includes(members)).length;
    await dropFile(page, file, file);
    await page.getByText('Drop one file at a time.', EXACT).waitFor();
    assert.equal(await page.locator('#found').isVisible(), false);
    await dropFile(page, file);
    await page.getByText(`pets.csv has 3 pets. The first one: {${rex}}`).waitFor();
    await addAll(page);
    await page.getByText('3 of 3 added.').waitFor();
    assert.deepEqual([await count(rex), await count(mia)], [1, 2]);
    await page.reload();
    await page.getByRole('button', { name: 'Add from a file' }).click();
    await page.getByLabel('CSV or JSON file').setInputFiles(file);
    await page.getByText('The store already has the first 3 pets of this file.').waitFor();
    await addAll(page);
    await page.getByText('3 of 3 added, 3 of them by earlier requests.').waitFor();
    assert.deepEqual([await count(rex), await count(mia)], [1, 2]);
    // Another file, though its rows are the same.
    await chooseFile(page, `name,categoryId\nDrop 2,-${INT64_MAX}\n`);
    await page.getByText('The store already has the first pet of this file.').waitFor();
    await addAll(page);
    await page.getByText('1 of 1 added.').waitFor();
    assert.equal(await count(mia), 3);
    // Only a part of its first pets is known.
    await chooseFile(page, `name,categoryId\nDrop 2,-${INT64_MAX}\nDrop 3,1\n`);
    await page.getByRole('button', { name: 'Add 2 pets' }).waitFor();
    assert.equal(await page.getByText('The store already has').isVisible(), false);
  });

  test('console, add many › a JSON file › is added exactly', async (page, opened) => {
    const pet = `"name":"Json","categoryId":${INT64_MAX},"status":"sold"`;
    await addFile(page, `\uFEFF[\n{"id":7,${pet}}\n]\n`);
    await page.getByText('1 of 1 added.').waitFor();
    await page.locator('#pets', { hasText: 'Json' }).waitFor();
    const added = (await listPets(stage.service)).filter((json) => json.includes(pet));
    assert.equal(added.length, 1);
    const csv = toFile('name,categoryId\nRex,1\n');
    await page.getByLabel('CSV or JSON file').setInputFiles({ ...csv, name: 'pets.JSON' });
    await page.getByText('not valid JSON').waitFor();
    assert.deepEqual(opened.refusals, []);
  });

  test('console, add many › the example file › is taken as it is', async (page) => {
    await page.getByRole('button', { name: 'Add from a file' }).click();
    const example = await readDownload(page, 'Download an example file');
    assert.match(example, /^id,name,categoryId,status\n1,[^'\n]/);
    await chooseFile(page, example);
    await page.getByText('pets.csv has 20 pets').waitFor();
  });

  test('console, add many › a file that is dropped before there is a key › is left alone', {
    path: '/console/',
  }, async (page) => {
    const file = join(folder, 'early.csv');
    writeFileSync(file, createCsv('Early', 1));
    for (const [type, item, shown] of [
      ['dragover', '"a text", "text/plain"', ''],
      ['dragover', 'new File([], "x")', 'dragging'],
      ['dragleave', 'new File([], "x")', ''],
    ] as const) {
      const className = await page.evaluate<string>(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(${item});
        document.body.dispatchEvent(new DragEvent('${type}', { dataTransfer, bubbles: true }));
        document.body.className;
      }`);
      assert.equal(className, shown);
    }
    await dropFile(page, file);
    await enterKey(page, stage.service.key);
    await waitForList(page);
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.equal(await page.locator('.dragging').count(), 0);
  });

  test('console, add many › 503 and lost answers › sends each pet until it is added, once', async (page) => {
    const tries = new Map<string, number>();
    await page.route('**/v1/pets', async (route: Route) => {
      const body = route.request().postData() ?? '';
      const count = (tries.get(body) ?? 0) + 1;
      tries.set(body, count);
      if (count <= 6) return route.fulfill({ status: 503, json: UNAVAILABLE });
      if (count > 7) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await shortenTimers(page);
    await addFile(page, createCsv('Lost', 12));
    await page.getByText('0 of 12, answered 503').waitFor();
    await page.getByText('12 of 12 added, 12 of them by earlier requests.').waitFor();
    assert.deepEqual(await countAdded('Lost'), { pets: 12, names: 12 });
    // A browser tells of the choice of the same file again only when none is chosen.
    assert.equal(await page.getByLabel('CSV or JSON file').inputValue(), '');
  });

  for (const how of ['Stop', 'a reload'] as const) {
    test(`console, add many › ended by ${how} and then chosen again › adds the rest`, async (page) => {
      const prefix = `Ended by ${how}`;
      const held: Route[] = [];
      await page.route('**/v1/pets', async (route: Route) => {
        if (isFirst(route, 5)) await route.continue();
        else held.push(route);
      });
      await addFile(page, createCsv(prefix, 30));
      await page.getByText('5 of 30').waitFor();
      // A browser sends six of them at once on HTTP/1.1.
      await until(() => held.length >= 6);
      // The store has this pet, of which the page is not told.
      await held[0]?.fetch();
      assert.equal(await page.evaluate('document.querySelector("progress").value'), 5 / 30);
      assert.ok(await isWarning(page));
      if (how === 'Stop') {
        await page.getByRole('button', { name: 'Stop' }).click();
        await page
          .getByText('Stopped. At least 5 of 30 added. Add the same file again to go on.')
          .waitFor();
        assert.equal(await isWarning(page), false);
      } else {
        const asked = page.waitForEvent('dialog');
        const loaded = page.waitForEvent('load');
        const reloaded = page.evaluate('location.reload()').catch(() => undefined);
        await (await asked).accept();
        await Promise.all([loaded, reloaded]);
        await waitForList(page);
      }
      for (const route of held) await route.abort().catch(() => undefined);
      await page.unrouteAll();
      const tried = new Set<string | null>();
      // The service is away at first.
      await page.route('**/v1/pets', (route) => {
        const body = route.request().postData();
        return tried.has(body) ? route.continue() : tried.add(body) && route.abort();
      });
      await addFile(page, createCsv(prefix, 30));
      await page.getByText('30 of 30 added, 6 of them by earlier requests.').waitFor();
      assert.deepEqual(await countAdded(prefix), { pets: 30, names: 30 });
      assert.equal(await page.locator('#progress').isVisible(), false);
      assert.equal(await isWarning(page), false);
    });
  }

  test('console, add many › a double click on Add › adds all, as a click does', async (page) => {
    const held = await holdRequests(page, '**/v1/pets');
    await chooseFile(page, createCsv('Twice', 3));
    await page.getByRole('button', { name: 'Add 3 pets' }).dblclick();
    await until(() => held.length === 3);
    for (const route of held) await route.continue();
    await page.getByText('3 of 3 added.').waitFor();
  });

  test('console, add many › creates that take time › are 16 at a time, tell how many are added, and end with one that fails', async (page) => {
    // In the page, since a browser sends only six requests at once.
    await page.evaluate(`{
      window.held = [];
      window.fetch = (url, init) => {
        if (init.method === 'GET') return Promise.resolve(new Response('[]'));
        const { promise, resolve } = Promise.withResolvers();
        held.push((status = 201) => resolve(new Response('{"id":1,"name":"Slow","categoryId":1}', { status })));
        return promise;
      };
    }`);
    const answer = (count: number) =>
      page.evaluate(`for (const each of held.splice(0, ${count})) each()`);
    const countHeld = () => page.evaluate<number>('held.length');
    await addFile(page, createCsv('Slow', 100));
    await until(async () => (await countHeld()) === AT_A_TIME);
    for (const [count, told] of [
      [10, '10 of 100'],
      [AT_A_TIME, '26 of 100'],
      [AT_A_TIME, '42 of 100'],
    ] as const) {
      await answer(count);
      await page.getByText(told).waitFor();
      await until(async () => (await countHeld()) === AT_A_TIME);
    }
    await page.evaluate('held.shift()(400)');
    await page.getByText('At least 42 of 100 added. Add the same file again to go on.').waitFor();
    // What is under way is answered, and no more is sent.
    await answer(AT_A_TIME);
    assert.equal(await countHeld(), 0);
  });

  test('console, add many › more than 2,000 pets › names the command line to use', async (page) => {
    const file = { name: "Tom's pets.csv", mimeType: 'text/csv' };
    for (const [count, isTold, stored] of [
      [2_000, false, 0],
      [2_001, true, 0],
      // Stopped, and chosen again: the command line would add the first ones once more.
      [2_001, false, 10],
    ] as const) {
      for (let at = 0; at < stored; at += 1) {
        await addPet(stage.service, { name: `Many ${at}`, categoryId: at });
      }
      const buffer = Buffer.from(createCsv('Many', count));
      await page.getByLabel('CSV or JSON file').setInputFiles({ ...file, buffer });
      await page.getByRole('button', { name: `Add ${count} pets` }).waitFor();
      const told = "Only if none of them was added yet: petstore pets import 'Tom'\\''s pets.csv'";
      assert.equal(await page.getByText(told).isVisible(), isTold);
    }
  });

  test('console, add many › a name that the command line takes otherwise › is in a command that works', async (page) => {
    const csv = createCsv('Named', 2_001);
    const json = JSON.stringify(
      Array.from({ length: 2_001 }, () => ({ name: 'Named', categoryId: 1 })),
    );
    for (const [name, content, args] of [
      ['-x.csv', csv, './-x.csv'],
      ['pets.txt', csv, 'pets.txt --format csv'],
      ['.csv', csv, '.csv --format csv'],
      ['pets.CSV', json, 'pets.CSV --format json'],
      ['-.JSON', json, './-.JSON'],
    ] as const) {
      const file = { ...toFile(content), name };
      await page.getByLabel('CSV or JSON file').setInputFiles(file);
      await page.getByText(`petstore pets import ${args}`, EXACT).waitFor();
    }
  });

  test('console, add many › a file after another, and one meanwhile › shows the message of the last one alone', async (page) => {
    const done = page.locator('#file-added');
    const wrong = page.locator('#file-form [role=alert]');
    await addFile(page, createCsv('First', 1));
    await done.getByText('1 of 1 added.').waitFor();
    await chooseFile(page, ' '.repeat(4 * 1024 * 1024 + 1));
    await wrong.getByText('has more than 4 MiB').waitFor();
    assert.equal(await done.textContent(), '');
    const held = await holdRequests(page, '**/v1/pets');
    // The same bytes in another order are another file.
    await addFile(page, createCsv('Frist', 1));
    await until(() => held.length === 1);
    await chooseFile(page, createCsv('Meanwhile', 1));
    await wrong.getByText('Pets are being added. Wait, or stop it.').waitFor();
    await held[0]?.continue();
    await done.getByText('1 of 1 added.').waitFor();
    assert.deepEqual(await countAdded('Meanwhile'), { pets: 0, names: 0 });
  });

  test('console, add many › a file that is chosen while another is read, or looked for in the store › takes its place', async (page) => {
    const buttons = page.locator('#add-all');
    await page.evaluate(`{
      const { arrayBuffer } = File.prototype;
      File.prototype.arrayBuffer = async function () {
        if (this.size < 5) await new Promise((resolve) => { window.release = resolve; });
        return arrayBuffer.call(this);
      };
    }`);
    await chooseFile(page, 'bad');
    await page.getByText('Reading pets.csv').waitFor();
    const held = await holdRequests(page, /limit=100/);
    await chooseFile(page, createCsv('Checked', 1));
    await until(() => held.length === 1);
    // Its error is not one of the file that is checked now.
    await page.evaluate('release()');
    const ended = page.waitForEvent('requestfailed');
    await chooseFile(page, createCsv('Chosen', 3));
    assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
    await until(() => held.length === 2);
    await page.locator('#progress').waitFor();
    await held[1]?.continue();
    await buttons.getByText('Add 3 pets').waitFor();
    assert.equal(await page.locator('#file-form [role=alert]').textContent(), '');
    await buttons.click();
    await page.getByText('3 of 3 added.').waitFor();
    assert.deepEqual(await countAdded('Checked'), { pets: 0, names: 0 });
  });

  test('console, add many › a key that is refused meanwhile › is told beside the key, and nothing more is sent', async (page) => {
    let passed = 0;
    const refusal = { code: 'unauthorized', message: 'the API key is not known', status: 401 };
    await chooseFile(page, createCsv('Refused', 80));
    await page.getByRole('button', { name: 'Add 80 pets' }).waitFor();
    await page.route('**/v1/pets', async (route: Route) => {
      passed += 1;
      if (isFirst(route, 2)) await route.continue();
      else {
        await until(async () => (await countAdded('Refused')).pets === 2);
        await route.fulfill({ status: 401, json: refusal });
      }
    });
    await addAll(page);
    const told =
      /^key is not accepted: .+\nAt least [0-2] of 80 added\. Another key adds the whole file again: /;
    await page.locator('#key-error', { hasText: told }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
    assert.equal(await page.locator('#work, #forget').filter({ visible: true }).count(), 0);
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.ok(passed <= 2 * AT_A_TIME, `${passed} requests`);
    assert.equal(await isWarning(page), false);
  });

  test('console, add many › again after a refusal and a removed pet › adds the rest, and says what is there', async (page) => {
    let stored = 2;
    await page.route('**/v1/pets', async (route: Route) => {
      if (isFirst(route, 2)) return route.continue();
      await until(async () => (await countAdded('Gone')).pets === stored);
      const forbidden = { code: 'forbidden', message: 'may only read', status: 403 };
      await route.fulfill({ status: 403, json: forbidden });
    });
    const addUntil = async (hasText: RegExp) => {
      await addFile(page, createCsv('Gone', 4));
      await page.locator('#file-added, #file-form [role=alert]', { hasText }).waitFor();
    };
    await addUntil(
      /^may only read\nAt least [0-2] of 4 added\. Another key adds the whole file again: /,
    );
    const pets = await listPets(stage.service);
    const id = /"id":(\d+),"name":"Gone 0"/.exec(pets.join())?.[1] ?? '';
    const args = ['pets', 'remove', id, '--database', 'sqlite:petstore.db'];
    assert.equal((await runProgram(args, { cwd: folder })).status, 0);
    stored = 1;
    await addUntil(
      /\nAt least (0 of 4 added|1 of 4 added, 1 of them by earlier requests)(; removed since: 1)?\. Another key/,
    );
    await page.unrouteAll();
    await addUntil(/^3 of 4 added, 1 of them by earlier requests; removed since: 1\.$/);
    await addUntil(/^3 of 4 added, 3 of them by earlier requests; removed since: 1\.$/);
    assert.deepEqual(await countAdded('Gone'), { pets: 3, names: 3 });
  });

  test('console, add many › in a dialog that is closed meanwhile › shows the dialog again at the end, before the pets', {
    start: () => startService([], { cwd: createProcessFolder() }),
  }, async (page) => {
    const dialog = page.getByRole('dialog', { name: 'Add pets from a file' });
    const refusal = { code: 'forbidden', message: 'may only read', status: 403 };
    let held: Route[] = [];
    await page.route('**/v1/pets', (route: Route) =>
      isFirst(route, 2) ? route.continue() : held.push(route),
    );
    await addFile(page, createCsv('Closed', 3));
    await page.getByText('2 of 3').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await held[0]?.fulfill({ status: 403, json: refusal });
    await dialog.getByText('may only read').waitFor();
    const first = await readColumn(page, '2 pets', 2);
    assert.deepEqual(first.sort(), ['Closed 0', 'Closed 1']);
    held = [];
    await addFile(page, createCsv('Closed', 3));
    await page.getByText('2 of 3').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await held[0]?.continue();
    await dialog.getByText('3 of 3 added, 2 of them by earlier requests.').waitFor();
    assert.equal((await readColumn(page, '3 pets', 2)).at(-1), 'Closed 2');
  });

  test('console, add many › stopped while it looks into the store › shows nothing, and takes the next file', async (page) => {
    await addPet(stage.service, { name: 'Looked at', categoryId: 1 });
    const held = await holdRequests(page, /limit=100/);
    await chooseFile(page, createCsv('Looked', 3));
    await until(() => held.length === 1);
    await page.getByText('Looking for its first pets in the store').waitFor();
    const ended = page.waitForEvent('requestfailed');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#progress').waitFor({ state: 'hidden' });
    await page.locator('#from-file').getByText('stopped', { exact: true }).waitFor();
    assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
    assert.equal(await page.locator('#found').isVisible(), false);
    await page.unrouteAll();
    await chooseFile(page, createCsv('Looked', 2));
    await page.getByRole('button', { name: 'Add 2 pets' }).waitFor();
  });
});

/** Drops it as a person does: the browser opens a file that the page does not take. */
async function dropFile(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const at = { x: 20, y: 20 };
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...at, data });
  }
}
