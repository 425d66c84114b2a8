/** A real Firefox without a window, driven by WebDriver BiDi over a WebSocket. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProcessFolder } from './temporary-folder.ts';
import { until, within } from './until.ts';

/** Debian's Firefox. */
const FIREFOX = process.env.TEST_FIREFOX || 'firefox-esr';

/** A new profile asks the internet for updates and settings, which a test must not. */
const PREFERENCES = {
  'app.normandy.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

export type FirefoxPage = Awaited<ReturnType<typeof openFirefox>>;

/** Starts Firefox with one page; `await using` ends it. */
export async function openFirefox() {
  await using stack = new AsyncDisposableStack();
  const profile = createProcessFolder();
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const args = ['--headless', '--remote-debugging-port', '0', '--profile', profile];
  const firefox = spawn(FIREFOX, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(firefox, 'exit');
  stack.defer(async () => {
    firefox.kill('SIGKILL');
    await exited;
  });
  let said = '';
  firefox.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const findAddress = () => /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
  await until(() => findAddress() !== undefined);
  const socket = new WebSocket(`${findAddress()}/session`);
  stack.defer(() => socket.close());
  await within(once(socket, 'open'));

  const complaints: string[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(String(data));
    const { params } = message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (['error', 'warn'].includes(params?.level ?? '')) complaints.push(params?.text ?? '');
  });
  let sent = 0;
  async function send(method: string, params: object): Promise<Record<string, unknown>> {
    sent += 1;
    const { promise, resolve } = Promise.withResolvers<Message>();
    waiting.set(sent, resolve);
    socket.send(JSON.stringify({ id: sent, method, params }));
    const { result, message } = await within(promise);
    assert.ok(result, `${method}: ${message}`);
    return result;
  }

  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  // In the first window the field of the address has the focus, and takes the keys.
  const { context } = await send('browsingContext.create', { type: 'window' });
  const run = async (expression: string) => {
    const target = { context };
    const options = { expression, target, awaitPromise: true };
    const { result, exceptionDetails } = await send('script.evaluate', options);
    assert.ok(result, JSON.stringify(exceptionDetails));
    return result as { value?: unknown; sharedId?: string };
  };
  const find = async (selector: string) => {
    await until(async () => Boolean((await run(`${selector} !== null`)).value));
    return { sharedId: (await run(selector)).sharedId };
  };
  const query = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
  const perform = (source: { readonly type: string; readonly actions: object[] }) =>
    send('input.performActions', { context, actions: [{ id: source.type, ...source }] });
  const owned = stack.move();
  return {
    /** The errors that the browser reports. */
    complaints: complaints as readonly string[],
    goto: (url: string) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    /** The value of an expression, which must be a string, a number or a boolean. */
    evaluate: async (expression: string) => (await run(expression)).value,
    /** Waits until the text of the page has these words. */
    waitForText: (words: string) =>
      until(async () =>
        Boolean((await run(`document.body.innerText.includes(${JSON.stringify(words)})`)).value),
      ),
    /** Clicks the element, as a mouse does. */
    click: async (selector: string) => {
      await find(query(selector));
      await run(`${query(selector)}.scrollIntoView({ block: 'center' })`);
      const origin = { type: 'element', element: await find(query(selector)) };
      const actions = [
        { type: 'pointerMove', x: 0, y: 0, origin },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await perform({ type: 'pointer', actions });
    },
    /** Presses and releases keys, each a character or a code of WebDriver. */
    type: async (keys: string) => {
      const actions = [...keys].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await perform({ type: 'key', actions });
    },
    setFile: async (selector: string, path: string) => {
      const element = await find(query(selector));
      await send('input.setFiles', { context, element, files: [path] });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
