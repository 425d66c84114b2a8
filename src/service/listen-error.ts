/** Why the service cannot listen, and what to do about it. */

import { PetstoreError } from '../error.ts';
import { spellServe } from './program.ts';

/** Where a listener listens, and the beginning of the names of its options. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly options: '' | 'admin-';
}

/** The error in one line, by the code that Node gives it. Any other error stays as it is. */
export function explainListenError(error: unknown, { host, port, options }: Place): unknown {
  const hint = (name: 'host' | 'port', value: string | number) => {
    const variable = `PETSTORE_${`${options}${name}`.replace('-', '_').toUpperCase()}`;
    return `${spellServe(`--${options}${name} ${value}`)} (or ${variable}=${value})`;
  };
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} is in use: ${hint('port', port < 65_535 ? port + 1 : 0)}`,
    EADDRNOTAVAIL: `this machine does not have the address ${host}: ${hint('host', '127.0.0.1')}`,
    ENOTFOUND: `nobody knows the host ${host}: ${hint('host', '127.0.0.1')}`,
    EACCES: `this user may not listen on port ${port}${port > 1_023 ? '' : ', which is below 1024'}: ${hint('port', 8080)}`,
  };
  const message = messages[String(Object(error).code)];
  if (message === undefined) return error;
  return new PetstoreError('unavailable', message, { cause: error });
}
