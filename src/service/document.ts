/** The OpenAPI document as a text, without a service that listens. */

import { createApp } from '../http/app.ts';
import { PLACEHOLDERS, writeOpenApi } from '../http/openapi.ts';
import { openStore } from '../storage/open.ts';
import { createLog } from './log.ts';

/** The document of production, as it is committed in openapi.json. */
export async function createDocument(): Promise<string> {
  const store = await openStore('sqlite::memory:', { create: true });
  const app = await createApp({
    store,
    log: createLog('silent', () => undefined),
    environment: 'production',
    baseUrl: PLACEHOLDERS.production,
    corsOrigin: ['*'],
    retireGetPet: false,
  });
  const document = writeOpenApi(app, 2);
  await app.close();
  await store.close();
  return document;
}
