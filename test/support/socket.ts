/** Sends bytes to a port and reads the answer: for what no HTTP client would send. */

import { randomInt } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer,
  type Server,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { HANG_MS } from './hang.ts';
import { until } from './until.ts';

export type RawConnection = ReturnType<typeof openConnection>;

/** Connects to the port; `using` ends the connection. */
export function openConnection(port: number, options: Partial<TcpNetConnectOpts> = {}) {
  const socket = connect({ host: '127.0.0.1', port, ...options });
  const chunks: Buffer[] = [];
  let failure: Error | undefined;
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return {
    socket,
    /** What the server sent so far. */
    get received() {
      return Buffer.concat(chunks).toString();
    },
    /** What the server sent until the connection was closed; fails when that takes too long. */
    async readToEnd(msMax = HANG_MS): Promise<string> {
      const late = new Error(`the connection was not closed within ${msMax} ms`);
      const timer = setTimeout(() => socket.destroy(late), msMax);
      await closed;
      clearTimeout(timer);
      if (failure === undefined) return this.received;
      throw new Error(`${failure.message}; received so far: ${this.received}`, { cause: failure });
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** Writes the part for as long as the server takes it. */
export function writeForEver(socket: Socket, part: string | Buffer): void {
  const writeMore = () => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.on('drain', writeMore);
  writeMore();
}

/** Sends the request again and again, until the kernel takes no more of the answers. Resolves to the answer that is stuck. */
export async function sendUntilUnread(client: Socket, request: string): Promise<ServerResponse> {
  const answers: ServerResponse[] = [];
  const add = (message: unknown) => {
    const { response, socket } = message as { response: ServerResponse; socket: Socket };
    if (socket.remotePort === client.localPort) answers.push(response);
  };
  subscribe('http.server.request.start', add);
  client.pause();
  for (let sent = 1; ; sent += 1) {
    client.write(request);
    await until(() => answers.length === sent);
    const last = answers.at(-1) as ServerResponse;
    let polls = 0;
    await until(() => last.writableFinished || ++polls === 20);
    if (last.writableFinished) continue;
    unsubscribe('http.server.request.start', add);
    return last;
  }
}

/** What the server sends until it closes the connection. */
export async function exchange(
  port: number,
  ...parts: readonly (string | Buffer)[]
): Promise<string> {
  using connection = openConnection(port);
  for (const part of parts) connection.socket.write(part);
  return await connection.readToEnd();
}

export interface Answer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The first answer of what {@link exchange} got, one with a Content-Length or none. */
export function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = rest.join('\r\n\r\n').slice(0, Number(headers['content-length'] ?? 0));
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

/** Listens on a free port of 127.0.0.1, and resolves to it. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Resolves when nothing listens on the port of 127.0.0.1 any more. */
export function untilRefused(port: number): Promise<void> {
  return until(async () => {
    using connection = openConnection(port);
    const [connected] = await Promise.allSettled([once(connection.socket, 'connect')]);
    return connected.status === 'rejected';
  });
}

/** A free port of 127.0.0.1, below those that Linux and macOS give to port 0 and to clients: so none of these takes it. */
export async function getFreePort(): Promise<number> {
  const server = createServer();
  const port = randomInt(10_000, 32_768);
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return await getFreePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
