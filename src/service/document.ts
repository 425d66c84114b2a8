/** The OpenAPI document as a text, without a service that listens. */

import type { Environment } from '../api-key.ts';
import { createApp } from '../http/app.ts';
import { PLACEHOLDERS, writeOpenApi } from '../http/openapi.ts';
import { openStore } from '../storage/open.ts';
import { createLog } from './log.ts';

export interface DocumentOptions {
  readonly environment: Environment;
  readonly baseUrl?: string;
}

/** The document that a service with these options serves; without an address, with a placeholder for it. */
export async function createDocument({
  environment,
  baseUrl = PLACEHOLDERS[environment],
}: DocumentOptions): Promise<string> {
  const store = await openStore('sqlite::memory:', { create: true });
  const app = await createApp({
    store,
    log: createLog('silent', () => undefined),
    environment,
    baseUrl,
    corsOrigin: ['*'],
    retireGetPet: false,
  });
  const document = writeOpenApi(app, 2);
  await app.close();
  await store.close();
  return document;
}
