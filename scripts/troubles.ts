/** What docs/troubleshooting.md says of each text: its cause, the command that shows it, the remedy. */

import type { KeyRefusal } from '../src/api-key.ts';
import type { ErrorCode } from '../src/error.ts';

export type Entry = readonly [cause: string, look: string, remedy: string];

const LOG = 'journalctl -u petstore -o cat -g';
const REQUEST = `${LOG} REQUEST_ID`;
const CONNECT = 'psql ADDRESS';
const KEYS = 'petstore keys list';
const DISK = 'df -h /var/lib/petstore';
const FILES = 'ls -la /var/lib/petstore';
const ACTIVITY = "psql ADDRESS -c 'select * from pg_stat_activity'";
const RIGHTS = 'psql ADDRESS -c "\\dp"';
const SERVER = 'journalctl -u postgresql';
const TOP = 'top';

export const CODES: Readonly<Record<ErrorCode, Entry>> = {
  bad_request: ['The request is wrong in the named field.', REQUEST, 'Correct the client.'],
  unauthorized: ['See the reasons of a 401.', REQUEST, 'See there.'],
  forbidden: ['The key is read-only.', KEYS, 'Create a key without `--read-only`.'],
  not_found: [
    'The path or the id is wrong, or the pet was removed.',
    'petstore pets get ID',
    'Correct the address.',
  ],
  method_not_allowed: ['The method is not served here.', REQUEST, 'Use a method of `Allow`.'],
  request_timeout: [
    'The client, its network or a proxy is slow.',
    REQUEST,
    'Send the request again.',
  ],
  conflict: [
    'Another change came first.',
    'petstore pets get ID',
    'Read the pet, and decide again.',
  ],
  gone: [
    'The pet was removed, or `--retire-get-pet` is set.',
    REQUEST,
    'Use the list, or a new `Idempotency-Key`.',
  ],
  payload_too_large: [
    'The body is too large, or has too many chunks.',
    REQUEST,
    'Send one pet in a request.',
  ],
  unsupported_media_type: [
    '`Content-Type` is missing or wrong.',
    REQUEST,
    'Set `application/json`.',
  ],
  idempotency_key_reused: [
    'One key was sent with two pets.',
    REQUEST,
    'Take a new key for each pet.',
  ],
  rate_limited: [
    'The key is above `--rate-limit`.',
    KEYS,
    'Wait as `Retry-After` says, or raise the limit.',
  ],
  headers_too_large: [
    'A cookie or a header field is too long.',
    REQUEST,
    'Send fewer and shorter fields.',
  ],
  internal_error: [
    'An unexpected failure; the log has `err`.',
    REQUEST,
    'Report it with `err.stack`.',
  ],
  unavailable: ['The log has the `reason`: see the tables below.', REQUEST, 'See there.'],
};

export const KEY_REASONS: Readonly<Record<KeyRefusal, Entry>> = {
  missing: [
    'There is no `Authorization`.',
    `${LOG} missing`,
    'Send the key; a proxy must pass it on.',
  ],
  malformed: [
    'It is not `Bearer`, a space, and a complete key.',
    `${LOG} malformed`,
    'Take quotes away, and copy the whole key.',
  ],
  unknown: [
    'The key is of another store, or newer than a restored backup.',
    `${LOG} "listens on"`,
    'Compare the store of the start with that of the key.',
  ],
  expired: ['The time of the key is over.', KEYS, 'If its user may go on, create a key.'],
  revoked: ['The key was revoked or replaced.', KEYS, 'If its user may go on, create a key.'],
  'other environment': [
    'A production key on staging, or the reverse.',
    KEYS,
    'Use a key of this environment.',
  ],
};

/** By the start of the text. */
export const REASONS: Readonly<Record<string, Entry>> = {
  'the request waited for too long': [
    'The processor, disk or database is too slow.',
    TOP,
    'Add `--workers` or replicas; look at the disk.',
  ],
  'too many requests are delayed by Prefer': [
    'Tests use `--rehearse`.',
    `${LOG} rehearsed`,
    'Send fewer delays at once.',
  ],
  'the service is stopping': [
    'The service stops.',
    'systemctl status petstore',
    'None: another replica answers.',
  ],
  'the first key was not shown': [
    'Nobody can read standard output.',
    KEYS,
    'Revoke it, and make another.',
  ],
  'the store has no production key': [
    'The store is new, lost or mistyped.',
    KEYS,
    'Correct `PETSTORE_DATABASE`, or create a key.',
  ],
  'no worker gave its metrics in time': [
    'All workers hang.',
    TOP,
    'Restart the service, and report it.',
  ],
  'an earlier create or import is still under way': [
    'An import commits.',
    ACTIVITY,
    'Wait for its end.',
  ],
  'the writer of the database broke': [
    'The thread of creates failed.',
    `${LOG} "writer of the database"`,
    'Restart the service, and report `err`.',
  ],
  'a worker was ended by': [
    'A worker was killed, often for its memory.',
    'journalctl -k -g oom',
    'Give the machine more memory.',
  ],
  'there is no database': [
    'The path of the address is wrong, or the file is lost.',
    FILES,
    'Correct the address, or restore a backup.',
  ],
  'the database is of a newer petstore': [
    'An older release meets a new layout.',
    'petstore --version',
    'Start the newer release, or restore a backup.',
  ],
  'only … files may be open': ['The hard limit is too low.', 'ulimit -Hn', 'Raise `LimitNOFILE`.'],
  '--host …: keys travel': [
    'No proxy with TLS is named.',
    'petstore serve --help',
    'Set `--trust-proxy`.',
  ],
  'SQLite … is too old': [
    'Node is linked to an old SQLite.',
    'node --version',
    'Install the Node of nodejs.org.',
  ],
  'has an unknown parameter': [
    'A parameter of the address is mistyped.',
    'petstore serve --help',
    'Use those of postgresql.md.',
  ],
  'the address of the database names no user': [
    'The address has no user.',
    CONNECT,
    'Add it to the address.',
  ],
  'sslcert, sslkey and sslrootcert must': [
    'A file of the address is missing, closed or wrong.',
    'ls -l FILE',
    'Correct its path, rights or text.',
  ],
  'the store to copy': [
    'A newer release made it.',
    'petstore --version',
    'Copy it with that release.',
  ],
  'there is no petstore in this database': [
    'The database is empty, or the address is wrong.',
    CONNECT,
    'Correct the address, or run `petstore keys create`.',
  ],
  'there is no petstore in …': [
    'The file was emptied, or the address is wrong.',
    FILES,
    'Restore a backup, or correct the address.',
  ],
  'the upgrade of the database': [
    'The role may not alter tables.',
    RIGHTS,
    'Run `petstore migrate` as the owner.',
  ],
  'has the encoding': ['It is not UTF8.', 'psql -l', "Create it with `encoding 'UTF8'`."],
  'the role … needs more rights': ['A GRANT is missing.', RIGHTS, 'Run the GRANTs of the message.'],
  'the file … of the database was removed': [
    'Somebody moved or replaced a file under the service.',
    FILES,
    'Do what the message says.',
  ],
  'is slow: more pets came': ['PostgreSQL answers slowly.', ACTIVITY, 'Find what slows it down.'],
  'time of last use not written': [
    'A write failed; see `err`.',
    DISK,
    'Make room, or give the right `update`.',
  ],
  'too many connections: some are closed': [
    '`--max-connections` is reached.',
    'ss -tn state established',
    'Raise it, or limit addresses at the proxy.',
  ],
  'a worker cannot be reached': [
    'A worker is ending.',
    `${LOG} worker`,
    'None, unless it is repeated.',
  ],
  'a worker ended and is replaced': [
    'It was killed or failed.',
    'journalctl -k -g oom',
    'Give it more memory, or report it.',
  ],
  'cannot grow: no id is left': [
    'The greatest id is 2^63-1.',
    "psql ADDRESS -c 'select max(id) from pets'",
    'Copy the pets into a new store with new ids.',
  ],
  'gives ids that are in use': [
    'A sequence was set back, or left out of a restore.',
    "psql ADDRESS -c 'select * from pets_id'",
    'Run the SQL of the message.',
  ],
  'does not let this user in': [
    'The role is not there or has no LOGIN, or `pg_hba.conf` refuses user, machine or plain text.',
    CONNECT,
    'Run `alter role petstore login`, add a line, or `sslmode=require`.',
  ],
  'refuses this user or its password': [
    'User or password is wrong.',
    CONNECT,
    'Correct the address.',
  ],
  'is not there': [
    'The server has no such database.',
    'psql -l',
    'Run `createdb`, or correct its name.',
  ],
  'has tables of another program': [
    '`pets` or another table exists already.',
    "psql ADDRESS -c '\\dt'",
    'Use a database of its own.',
  ],
  'is refused by its pooler': [
    'PgBouncer refuses the connection.',
    'journalctl -u pgbouncer',
    'Do what its log says, or add `pgbouncer=true`.',
  ],
  'is behind a pooler': [
    'The pooler shares sessions.',
    CONNECT,
    'Add `pgbouncer=true` to the address.',
  ],
  'lacks a table or column': ['Somebody dropped it.', "psql ADDRESS -c '\\d'", 'Restore a backup.'],
  'lacks an index': [
    '`pg_restore` was stopped, or somebody dropped it.',
    "psql ADDRESS -c '\\di'",
    'Restore again: see postgresql.md. If it was dropped, make it again.',
  ],
  'has no schema that this user may use': [
    '`grant usage` or `search_path` is missing.',
    RIGHTS,
    'Grant it.',
  ],
  'does not let this user do what is needed': [
    'A GRANT is missing.',
    RIGHTS,
    'Run the GRANTs of postgresql.md.',
  ],
  'takes no connections': [
    '`datallowconn` is false, or an interrupted drop made `datconnlimit` -2.',
    "psql -d postgres -c 'select datname, datallowconn, datconnlimit from pg_database'",
    'Run `alter database petstore allow_connections true`. At -2, drop and restore it.',
  ],
  'did not answer in time': ['A statement was cancelled.', ACTIVITY, 'Find what blocks it.'],
  'is a standby that ended a long read': [
    'It replays changes that the read still needs.',
    "psql ADDRESS -c 'show max_standby_streaming_delay'",
    'Raise it, and run the command again.',
  ],
  'has too many conflicting changes': [
    'Transactions conflict.',
    ACTIVITY,
    'Find the other program that writes.',
  ],
  'reports an error of its disk': [
    'The disk of PostgreSQL fails.',
    SERVER,
    'Fail over, and replace the disk.',
  ],
  'shows a certificate for another host': [
    'The name of the address is not in the certificate.',
    CONNECT,
    'Use the name of the certificate.',
  ],
  'shows a certificate that is not trusted': [
    'The CA is not known.',
    CONNECT,
    'Set `sslrootcert`.',
  ],
  'does not offer TLS': [
    '`ssl` is off on the server.',
    "psql ADDRESS -c 'show ssl'",
    'Turn it on, or change `sslmode`.',
  ],
  'asks for a password': ['The address has none.', CONNECT, 'Add it to the address.'],
  'does not confirm writes': [
    'A synchronous standby is away, or the server hangs.',
    "psql ADDRESS -c 'select * from pg_stat_replication'",
    'Start the standby, or change `synchronous_standby_names`.',
  ],
  'sends what is no message': [
    'A pooler, a proxy or the network breaks messages.',
    CONNECT,
    'Connect past it, or update it.',
  ],
  'is read-only': [
    'The address leads to a standby.',
    "psql ADDRESS -c 'select pg_is_in_recovery()'",
    'Name all servers, or promote one. To read a standby, name only it.',
  ],
  'cannot grow: its disk is full': ['The disk of PostgreSQL is full.', 'df -h', 'Make room.'],
  'has no room': [
    '`max_connections` or memory is used up.',
    ACTIVITY,
    'Lower `--database-connections`, or raise the limit.',
  ],
  'is locked by another process': [
    'Another process holds a lock.',
    ACTIVITY,
    'Wait for its end. End it only if it waits for no standby.',
  ],
  'is stopping or starting': ['The server restarts.', SERVER, 'Wait; the service recovers.'],
  'ended the session': ['The command was stopped for 10 s.', SERVER, 'Run it again.'],
  'cannot be reached: nothing listens': [
    'PostgreSQL is down, or the port is wrong.',
    CONNECT,
    'Start it, or correct the address.',
  ],
  'cannot be reached: DNS': ['The resolver is away.', 'getent hosts HOST', 'Repair DNS.'],
  'cannot be reached: its host': [
    'The name is wrong.',
    'getent hosts HOST',
    'Correct the address.',
  ],
  'cannot be reached or': [
    'The server hangs, or the network is silent.',
    CONNECT,
    'Look at the network and the server.',
  ],
  'cannot be reached': ['The connection broke.', CONNECT, 'Look at the network and the server.'],
  'cannot be written': [
    'Files of another user, or a disk that is read-only.',
    FILES,
    'Run `chown` for the user of the service, or repair the disk.',
  ],
  'cannot grow: the disk is full': [
    'A disk is full.',
    'df -h /var/lib/petstore /var/tmp',
    'Make room; creates then work again.',
  ],
  'cannot be read or written': [
    'The disk fails, or became read-only.',
    'journalctl -k',
    'Run `petstore backup` onto another disk. If it fails, restore a backup.',
  ],
  'is without its -wal file': [
    'Only one of two files was moved.',
    FILES,
    'Put the `-wal` back, or restore a backup.',
  ],
  'is missing or empty, but its -wal': [
    'Only one of two files was moved, or one was emptied.',
    FILES,
    'Put the database back. If it is lost, move the `-wal` away, and restore a backup.',
  ],
  'is damaged': [
    'The file was overwritten or its disk failed.',
    'journalctl -k',
    'Do what the text says.',
  ],
  'cannot be opened': [
    'The folder is missing, folder or file is of another user, the disk is read-only, or no inode is free.',
    FILES,
    'Make the folder, or run `chown` for folder and file. `df -i` shows inodes.',
  ],
  'is not an SQLite database': ['The address names another file.', FILES, 'Correct the address.'],
};
