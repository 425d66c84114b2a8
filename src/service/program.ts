/** Commands as the person who started this process types them. */

import { describeAddress, parseAddress } from '../storage/address.ts';
import { SERVE_OPTIONS, type ServeOptions } from './serve-options.ts';

/** In a checkout npm runs the program: there the command `petstore` is not installed. */
const isCheckout = () => process.argv[1]?.endsWith('.ts') === true;

/** Starts the service with other options. */
export function spellServe(options: string): string {
  return isCheckout() ? `npm start -- ${options}` : `petstore serve ${options}`;
}

/** Makes a key of this store. */
export function spellKeysCreate({ environment, database }: ServeOptions): string {
  const program = isCheckout() ? 'npm run -s petstore --' : 'petstore';
  const which = environment === 'staging' ? '' : ` --environment ${environment}`;
  return `${program} keys create --name NAME${which}${spellDatabase(database)}`;
}

function spellDatabase(database: string): string {
  if (database === SERVE_OPTIONS.database.default) return '';
  // An address of PostgreSQL may hold a password.
  if (parseAddress(database).kind !== 'sqlite') return ', with this PETSTORE_DATABASE';
  return ` --database ${quote(describeAddress(database))}`;
}

/** The text as an argument in a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
