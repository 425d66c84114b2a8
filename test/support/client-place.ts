/** Where scenarios of the client run: the real service, and servers that misbehave. */

import { createServer } from 'node:http';
import type { Place } from '../client/scenarios/check.ts';
import { startTestApp } from './app.ts';
import { getFreePort, listen } from './socket.ts';

type ServedPlace = Omit<Place, 'client' | 'runtime'>;

export async function openPlace(): Promise<ServedPlace & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startTestApp({ rehearse: true }));

  const echo = createServer(({ method, headers }, response) => {
    response.setHeader('access-control-allow-origin', '*');
    const asked = headers['access-control-request-headers'];
    if (asked !== undefined) response.setHeader('access-control-allow-headers', asked);
    const pets = Object.entries(headers).map(([name, value], index) => ({
      ...{ id: index + 1, name: `${name}: ${value}`, categoryId: 1 },
    }));
    response.end(method === 'OPTIONS' ? '' : JSON.stringify(pets));
  });
  const silent = createServer(() => {});
  for (const server of [echo, silent]) {
    stack.use(server);
    stack.defer(() => server.closeAllConnections());
  }

  const toUrl = (port: number) => `http://127.0.0.1:${port}/v1`;
  const place = {
    baseUrl: toUrl(service.port),
    apiKey: service.key,
    closedUrl: toUrl(await getFreePort()),
    silentUrl: toUrl(await listen(silent)),
    echoUrl: toUrl(await listen(echo)),
  };
  const opened = stack.move();
  return { ...place, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
