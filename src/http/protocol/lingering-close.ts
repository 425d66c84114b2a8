/** How a connection ends: its client gets the whole last answer, and what the client still sends is dropped. */

// node:http closes a connection as soon as the last answer is written. If bytes of the client are unread then, the
// kernel resets the connection, and the client may lose the answer. No option of node:http changes this. So
// `connections.ts`, and no other file, replaces methods of sockets and servers.

import type { Socket } from 'node:net';
import { HTTP_LIMITS } from '../limits.ts';

/** The time to read the answer; docs/limits.md has it too. */
const LINGER_MS_MAX = 2_000;
/** What Node reads from a socket at once. */
const READ_BYTES_MAX = 64 * 1024;

/** Reads and parses nothing more of the client. */
export function stopReading(socket: Socket): void {
  // Node may have paused the socket, and its parser continues at this event. It reads the socket directly until somebody
  // listens for `data`.
  socket.emit('resume');
  socket.on('data', () => undefined);
  socket.removeAllListeners('data');
  socket.pause();
}

/** Ends the connection after what was written to it. At most LINGER_BYTES_MAX more of the client are read and dropped. */
export function closeLingering(socket: Socket): void {
  if (!socket.writable) return;
  stopReading(socket);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // A paused socket reads once more. The client has the rest of the time to read the answer.
    if (bytes + 2 * READ_BYTES_MAX > HTTP_LIMITS.LINGER_BYTES_MAX.value) socket.pause();
  });
  socket.resume();
  socket.end();
  // A socket that is not read from would let the process end.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
}
