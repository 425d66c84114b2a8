/** `petstore serve`: runs the service. */

import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import type { ServeOptions } from '../../service/serve-options.ts';
import { MEMORY_ADDRESS } from '../../storage/address.ts';
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
    await serve(options).catch((error) => {
      if (!(error instanceof PetstoreError) || error.code !== 'bad_request') throw error;
      // The supervisor starts a service again that has ended with 1: no new start mends this.
      throw new UsageError(error.message, { cause: error });
    });
  });
}

function checkTogether(options: ServeOptions): void {
  const { environment, database, workers, rateLimit, rateLimitBurst, seed, rehearse } = options;
  const isProduction = environment === 'production';
  const isInMemory = database === MEMORY_ADDRESS;
  const faults = {
    "option '--rate-limit-burst <count>', or PETSTORE_RATE_LIMIT_BURST, needs --rate-limit":
      rateLimitBurst !== undefined && rateLimit === undefined,
    'sqlite::memory: is for one process: --workers must be 1': isInMemory && workers > 1,
    'sqlite::memory: is only for staging: no command can add a key to it':
      isInMemory && isProduction,
    "option '--seed', or PETSTORE_SEED, is only for staging": isProduction && seed !== undefined,
    "option '--rehearse', or PETSTORE_REHEARSE, is only for staging": isProduction && rehearse,
  };
  for (const [fault, isSo] of Object.entries(faults)) if (isSo) throw new UsageError(fault);
}
