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
  await using stack = new AsyncDisposableStack();
  const { port, key } = stack.use(await startService([], { cwd: createProcessFolder() }));
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const target = { host: '127.0.0.1', port, method, headers, path: url.slice(PATH.length) };
    const onward = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  stack.use(proxy);
  stack.defer(() => proxy.closeAllConnections());
  const url = `http://127.0.0.1:${await listen(proxy)}${PATH}`;
  const started = stack.move();
  return { url, key, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
