/** Starts one PostgreSQL server for all test files of an `npm test`, and stops it at the end. */

import { isPglite, startTestServer, type TestServer } from './postgres.ts';

let server: TestServer | undefined;

export async function globalSetup(): Promise<void> {
  if (process.env.TEST_POSTGRES) return;
  server = await startTestServer();
  process.env.TEST_POSTGRES = server.url;
  if (isPglite(server.url)) process.env.TEST_PGLITE = 'true';
}

export async function globalTeardown(): Promise<void> {
  await server?.close();
}
