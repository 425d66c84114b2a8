/** `petstore serve`: runs the service. */

import type { Command } from 'commander';
import type { ServeOptions } from '../../service/serve-options.ts';
import { isMemoryAddress } from '../../storage/address.ts';
import { serveOptions, UsageError } from '../options.ts';
import { addExamples } from '../output.ts';

export function addServe(program: Command): void {
  const command = addExamples(
    program.command('serve'),
    'petstore serve --port 0',
    'PETSTORE_PORT=80 petstore serve --environment production --host 0.0.0.0 --base-url https://petstore.test/v1',
  ).description('run the service');
  for (const option of serveOptions()) command.addOption(option);
  command.action(async (options: ServeOptions) => {
    checkTogether(options);
    // Loading Fastify takes longer than most commands.
    const { serve } = await import('../../service/serve.ts');
    await serve(options);
  });
}

/** @throws UsageError for an option that another option does not allow. */
function checkTogether(options: ServeOptions): void {
  if (options.rateLimitBurst !== undefined && options.rateLimit === undefined) {
    throw new UsageError(
      "option '--rate-limit-burst <count>', or PETSTORE_RATE_LIMIT_BURST, needs --rate-limit",
    );
  }
  if (options.environment === 'staging') return;
  if (isMemoryAddress(options.database)) {
    throw new UsageError('sqlite::memory: is only for staging: no command can add a key to it');
  }
  for (const name of ['seed', 'rehearse'] as const) {
    if (!options[name]) continue;
    const variable = `PETSTORE_${name.toUpperCase()}`;
    throw new UsageError(`option '--${name}', or ${variable}, is only for staging`);
  }
}
