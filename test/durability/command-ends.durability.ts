/** Every end of every command that writes, on SQLite; `npm test` has one of each way. */

import { WRITES } from '../cli/command-ends.ts';
import { testOnSqlite } from '../cli/ends-on-sqlite.ts';

testOnSqlite(WRITES);
