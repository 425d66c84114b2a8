/** Certificates for servers of tests. */

import { execFileSync, spawnSync } from 'node:child_process';

/** Why a test with a certificate cannot run; false when it can. For the option `skip` of a test. */
export const NO_OPENSSL = spawnSync('openssl', ['version']).error !== undefined && 'no openssl';

/** Writes server.crt, of that host, and server.key to the folder. */
export function createCertificate(folder: string, host: string): void {
  const options =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.crt';
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  execFileSync('openssl', ['req', ...options.split(' '), ...names], { cwd: folder, stdio: 'pipe' });
}
