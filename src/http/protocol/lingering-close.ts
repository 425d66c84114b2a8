/** Lingering close: how a connection ends whose client may still be sending a body that nobody reads. */

import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';

/** What Node reads from a socket at once. */
const READ_BYTES_MAX = 64 * 1024;

/**
 * Ends the connection after what was written to it, and reads and drops at most the next
 * LINGER_BYTES_MAX of what the client sends. A socket that is closed while bytes arrive is reset, and
 * a client that sees the reset may lose the answer before it.
 */
export function closeLingering(socket: Socket): void {
  // Reading may be paused, which Node ends by this event as long as its parser takes the bytes.
  socket.emit('resume');
  socket.removeAllListeners('data');
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // A paused socket reads once more. The client has the rest of the time to read the answer.
    if (bytes + 2 * READ_BYTES_MAX > LIMITS.LINGER_BYTES_MAX) socket.pause();
  });
  socket.resume();
  socket.end();
  // A socket that is not read from would let the process end.
  const timer = setTimeout(() => socket.destroy(), LIMITS.LINGER_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
}
