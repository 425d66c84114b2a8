/** Every end of every command on PostgreSQL; `npm test` has those that come often. */

import { FILES, WRITES } from '../cli/command-ends.ts';
import { testOnPostgres } from '../cli/ends-on-postgres.ts';

testOnPostgres([...WRITES, ...FILES]);
