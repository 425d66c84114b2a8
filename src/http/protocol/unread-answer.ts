/** An answer that its client does not read: the connection is reset after a while, which frees the bytes of the answer. */

import type { ServerResponse } from 'node:http';
import { UNREAD_MS_MAX } from '../limits.ts';
import type { HeldBytes } from './held-bytes.ts';

/** To be called when the answer was just written. */
export function boundUnreadAnswer(response: ServerResponse, heldBytes: HeldBytes): void {
  const { socket } = response;
  // Nearly every answer fits into the buffers of the kernel.
  if (socket === null || socket.writableLength === 0) return;
  const cut = () => socket.resetAndDestroy();
  heldBytes.hold(response, socket.writableLength, socket, cut);
  const timer = setTimeout(cut, UNREAD_MS_MAX);
  response.once('close', () => {
    clearTimeout(timer);
    heldBytes.release(response);
  });
}
