/** A proxy that serves the service under a path. */

import { createServer, request } from 'node:http';
import { startService } from './program.ts';
import { listen } from './socket.ts';
import { createProcessFolder } from './temporary-folder.ts';

export interface ServiceTarget {
  /** The address without `/v1`. */
  readonly url: string;
  readonly key: string;
}

const PATH = '/petstore';

/** Starts a service behind a proxy that removes the path. Nothing tells the service its path. */
export async function startProxied(): Promise<ServiceTarget & AsyncDisposable> {
  let port = 0;
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const target = { host: '127.0.0.1', port, method, headers, path: url.slice(PATH.length) };
    const onward = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await using stack = new AsyncDisposableStack();
  stack.use(proxy);
  stack.defer(() => proxy.closeAllConnections());
  const url = `http://127.0.0.1:${await listen(proxy)}${PATH}`;
  const cwd = createProcessFolder();
  const behind = stack.use(await startService([], { cwd }));
  port = behind.port;
  const started = stack.move();
  return { url, key: behind.key, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
