/** Clients with keys that nobody gave them. Each key is well-formed, so only the database knows that it is none. */

import { createApiKeyText } from '../../src/api-key.ts';
import { TEN_KEYS_P99_MS_MAX, testAttack } from './attack.ts';

const list = () =>
  `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${createApiKeyText('staging')}\r\n\r\n`;

for (const onPostgres of [false, true]) {
  const place = onPostgres ? 'PostgreSQL' : 'SQLite';
  testAttack(
    `send another invented key to a store on ${place} after each answer`,
    500,
    (socket) => {
      socket.on('data', () => socket.write(list()));
      socket.write(list());
    },
    { onPostgres, p99MsMax: TEN_KEYS_P99_MS_MAX },
  );
}
