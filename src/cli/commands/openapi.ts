/** `petstore openapi`: the document of the service, as it is served and committed. */

import pino from 'pino';
import { createApp } from '../../http/app.ts';
import { PLACEHOLDERS } from '../../http/routes/docs.ts';
import { openStore } from '../../storage/open.ts';

export async function printDocument(): Promise<void> {
  const store = await openStore('sqlite::memory:', { create: true });
  const app = await createApp({
    store,
    log: pino({ level: 'silent' }),
    environment: 'production',
    baseUrl: PLACEHOLDERS.production,
    corsOrigins: ['*'],
    isGetPetRetired: false,
  });
  process.stdout.write(`${JSON.stringify(app.swagger(), null, 2)}\n`);
  await app.close();
  await store.close();
}
