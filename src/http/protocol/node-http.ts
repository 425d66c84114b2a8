/** What the service uses of `node:http`: an `import` reads all its exports, and so loads a WebSocket client, 70 ms and 13 MiB. */

export const { createServer, IncomingMessage, METHODS, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
