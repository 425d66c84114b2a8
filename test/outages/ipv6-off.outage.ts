/** A kernel without IPv6: the service listens on IPv4 alone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAdmin } from '../support/metrics.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** Runs its arguments in a process whose call of socket(2) for AF_INET6 fails with EAFNOSUPPORT (x86-64). */
const FILTER = `
  my @steps = ([0x20, 0, 0, 0], [0x15, 0, 3, 41], [0x20, 0, 0, 16], [0x15, 0, 1, 10], [0x06, 0, 0, 0x50061], [0x06, 0, 0, 0x7fff0000]);
  my $filter = join '', map { pack 'SCCL', @$_ } @steps;
  my $program = pack 'Sx6P', scalar @steps, $filter;
  syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $program) == 0 or die "no filter: $!";
  exec @ARGV;`;

for (const workers of ['1', '2']) {
  test(`--host * › a kernel without IPv6, ${workers} of --workers › listens on IPv4`, async () => {
    const args = ['--host', '*', '--admin-host', '*', '--admin-port', '0', '--workers', workers];
    await using service = await startService(args, {
      cwd: createProcessFolder(),
      within: ['perl', '-e', FILTER],
    });
    for (const url of [service.url, getAdmin(service)]) {
      const answer = await fetch(`http://127.0.0.1:${new URL(url).port}/livez`);
      assert.equal(answer.status, 200);
    }
  });
}
