/** What docs/troubleshooting.md says of the errors and warnings of commands, by the start of their text. */

import type { Entry } from './troubles.ts';

const HELP = 'petstore COMMAND --help';
const KEYS = 'petstore keys list';
const VARIABLES = 'env';
const GET = 'petstore pets get ID';
const FILE = 'ls -ld FILE';
const HEAD = 'head -n 3 FILE';
const LAYOUT = 'petstore migrate --dry-run';
const DRY = 'petstore pets import FILE --dry-run';

export const COMMANDS: Readonly<Record<string, Entry>> = {
  // Options and variables
  'It must be': ['An option has a wrong value.', HELP, 'Give a value that the message names.'],
  'option ': [
    'An option or its variable is wrong.',
    VARIABLES,
    'Correct the option that is named.',
  ],
  "option '--rate-limit-burst": ['Only the burst is set.', VARIABLES, 'Also set `--rate-limit`.'],
  "option '--seed'": ['Production gets no sample pets.', VARIABLES, 'Leave it out.'],
  "option '--rehearse'": ['Production fails no request on purpose.', VARIABLES, 'Leave it out.'],
  'unknown command': ['The command has another name.', 'petstore --help', 'Use the named command.'],
  'unknown variable': [
    'The variable is mistyped, or belongs to an option without a variable.',
    VARIABLES,
    'Correct or remove it.',
  ],
  'the value of': ['The variable has a quote or an invisible character.', VARIABLES, 'Remove it.'],
  'begins with a quote': [
    '`docker --env-file` keeps quotes.',
    VARIABLES,
    'Remove the quotes in the file.',
  ],
  'has the invisible character': [
    'The file has line ends of Windows.',
    'cat -A FILE',
    "Run `sed -i 's/\\r$//' FILE`.",
  ],
  'npm took': [
    '`--` is missing, or `.npmrc` has the option.',
    'npm config list',
    'Write `--` before the options, or remove the option from `.npmrc`.',
  ],
  'petstore: this needs Node': ['Node is too old.', 'node --version', 'Install Node 24 or newer.'],
  // The start of the service
  'port … is in use': ['Another program listens there.', 'ss -ltnp', 'End it, or set `--port`.'],
  'this machine does not have the address': [
    '`--host` is an address of another machine.',
    'ip address',
    'Set `--host` to an address of this machine.',
  ],
  'nobody knows the host': ['`--host` has a wrong name.', 'getent hosts HOST', 'Give an address.'],
  'this user may not listen': ['Ports below 1024 are for root.', HELP, 'Use 8080 behind a proxy.'],
  'sqlite::memory: is for one': ['`--workers` share a file.', HELP, 'Name a file.'],
  'sqlite::memory: is only': ['Its keys would be lost.', HELP, 'Name a file.'],
  'sqlite::memory: keeps nothing': ['It would end with the command.', HELP, 'Name a file.'],
  // Addresses
  'the database must be sqlite:': ['The address has another form.', HELP, 'Correct the address.'],
  'the database must be postgres:': [
    'A part is missing, or `%` escapes are.',
    HELP,
    'Write `%40` for `@`, `%2F` for `/`, `%23` for `#`.',
  ],
  '… may mean two files': ['It has `//`.', FILE, 'Take one of the two that are named.'],
  'channel_binding is not': ['A provider added it.', HELP, 'Leave it out.'],
  '… must be one of': [
    'A value is wrong, in a file, an option or an address.',
    HELP,
    'Take a value that is named.',
  ],
  'sslmode=verify-ca needs': ['No CA is named.', HELP, 'Add `sslrootcert`, or use `verify-full`.'],
  // Stores
  'the store … is of': [
    'The first key made it of the other environment.',
    KEYS,
    'See the message.',
  ],
  '… is of an older petstore': [
    'An older release made it.',
    LAYOUT,
    'Back it up with that release, then run `petstore migrate`.',
  ],
  'there is no key': ['The id is wrong.', KEYS, 'Take an id of the list.'],
  'key … cannot be rotated': ['It was revoked, is expired, or was rotated.', KEYS, 'Create a key.'],
  'there is no pet': ['It was removed, or never there.', GET, 'Correct the id.'],
  'the pets changed while': ['Another change came first.', GET, 'Run it again.'],
  'pet … was changed': ['Another change came first.', GET, 'Look at it, and run it again.'],
  'nothing to change': ['No new value is given.', HELP, 'Name a field, such as `--name`.'],
  'Invalid … id': ['It is not a number.', KEYS, 'Give the number from the list.'],
  'Invalid range': ['Its larger id comes first.', HELP, 'Give `7-9`, not `9-7`.'],
  '…; it is not known': [
    'The answer of the database to the commit is lost.',
    KEYS,
    'When writes are confirmed again, look as the message says.',
  ],
  '…; nothing was': ['The command was refused or stopped.', HELP, 'The store is as before.'],
  'the store to copy to is not empty': ['It has pets or keys.', KEYS, 'Name an empty store.'],
  'the store to copy …:': [
    'One of the two stores fails.',
    LAYOUT,
    'Look its text up in this page.',
  ],
  'the copy differs': ['A row is not the same in the copy.', KEYS, 'Report it; nothing is copied.'],
  // Files
  '… cannot be made': [
    'A folder above it is missing, or the disk is read-only.',
    'mount',
    'Name another folder, or repair the disk.',
  ],
  'cannot be … (': ['The user may not, or the path is wrong.', FILE, 'Run as the right user.'],
  'cannot be …:': ['The system says why.', FILE, 'Do what it says.'],
  'exists already': ['Nothing is overwritten.', FILE, 'Name a new file.'],
  '…-': ['An old file is beside the name.', FILE, 'Put its database back, or move it away.'],
  'is a folder': ['The path names a folder.', FILE, 'Name a file in it.'],
  'is a folder in place': ['A backup of this name is a folder.', FILE, 'Move it away.'],
  '… read or removed': ['Old backups cannot be removed.', FILE, 'Give the user its folder.'],
  'standard output cannot be written, ': [
    'Its disk is full, or its reader ended.',
    'df -h',
    'Run it again.',
  ],
  'standard output cannot be written:': [
    'Its disk is full, or its reader ended.',
    'df -h',
    'Do what it says.',
  ],
  '… is a workbook': ['It is no CSV.', 'file FILE', 'Save the sheet as "CSV UTF-8".'],
  '… is a file of the store': ['It would be replaced.', FILE, 'Name another file.'],
  '… is a socket': ['It cannot be replaced.', FILE, 'Name a file, or `-`.'],
  'the name of the file must': ['The ending is unknown.', FILE, 'Rename it, or give `--format`.'],
  'a JSON file may have': ['It is too large to parse.', FILE, 'Export NDJSON.'],
  'the JSON must have': ['It has too many values or levels.', FILE, 'Use NDJSON.'],
  'not valid JSON': ['A row is no JSON.', DRY, 'Correct the named line.'],
  'the file must be a JSON array': ['It is one object, or lines.', HEAD, 'Name it `.ndjson`.'],
  'the file has no pets': ['It is empty.', HEAD, 'Name the right file.'],
  'the file has no row': ['It has only a header.', HEAD, 'Name the right file.'],
  'the file is not UTF-8': ['It has another encoding.', 'file FILE', 'Save it as UTF-8.'],
  'the header must': ['A column is missing.', HEAD, 'Name the columns in the first row.'],
  'column "…" is not': ['It is mistyped, or not ours.', HEAD, 'Rename it, or `--ignore-columns`.'],
  'the column "…" is given twice': ['Two columns have one name.', HEAD, 'Remove one of them.'],
  'the cell "…" is in': ['A cell has no header.', DRY, 'Clear the cell, or name its column.'],
  'must have … cells': ['A separator is missing, or not quoted.', DRY, 'Correct the named row.'],
  'a cell with a quote': ['A quote is not doubled.', DRY, 'Save the sheet again.'],
  'longer than …': ['A quote is not closed.', DRY, 'Correct the named line.'],
  'the member … is given': ['A JSON object has one name twice.', DRY, 'Remove one of them.'],
  'a pet must be': ['The row is another kind of JSON.', DRY, 'Correct the named line.'],
  '…: … comes from': ['A formula of the sheet failed.', DRY, 'Repair the formula, and export.'],
  '… rows are wrong': ['The lines above it say why.', DRY, 'Correct these rows.'],
  'the id … is given': ['Two rows have one id.', DRY, 'Remove one of them.'],
  'pet … differs': ['The store has another pet there.', GET, 'Use `--update`, or no `--by-id`.'],
  'the ids in the file': ['Pets got new ids.', DRY, 'To keep ids, import with `--by-id`.'],
  'the first rows of the file': [
    'The file was added before.',
    'petstore pets list --after ID',
    'Remove the new ids if so.',
  ],
  '--update needs the field': [
    'The file lacks a column.',
    HEAD,
    'Correct a file of `petstore pets export`.',
  ],
  "every … begins with '": ["A spreadsheet put `'` there.", HEAD, "Name the column `'name`."],
  'the … of pet … has control': ['A spreadsheet loses them.', GET, 'Export it as plain CSV.'],
  'There is no key yet': ['The store is new, or the wrong one.', KEYS, 'Create the first key.'],
};
