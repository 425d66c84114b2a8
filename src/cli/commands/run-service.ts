/** `petstore serve` and `petstore openapi`: runs the service, and prints the document that the service serves. */

import type { Command } from 'commander';
import type { OpenApiOptions } from '../../http/openapi.ts';
import { SERVE_OPTIONS, type ServeOptions } from '../../service/serve-options.ts';
import { environmentOption, serveOptions, toSetting, UsageError } from '../options.ts';
import { examples } from '../output.ts';

const { host, port, environment, baseUrl } = SERVE_OPTIONS;

/** The address of `serve` without options: a tool that imports the document needs an address to call. */
export const LOCAL_SERVICE: OpenApiOptions = {
  environment: environment.default,
  baseUrl: `http://${host.default}:${port.default}/v1`,
};

export function addServe(program: Command): void {
  const command = program.command('serve').description('run the service');
  for (const option of serveOptions()) command.addOption(option);
  command
    .addHelpText(
      'after',
      examples(
        'petstore serve --port 0',
        'PETSTORE_PORT=80 petstore serve --environment production --host 0.0.0.0 --base-url https://petstore.test/v1',
      ),
    )
    .action(async (options: ServeOptions) => {
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
  for (const name of ['seed', 'rehearse'] as const) {
    if (!options[name] || options.environment === 'staging') continue;
    const variable = `PETSTORE_${name.toUpperCase()}`;
    throw new UsageError(`option '--${name}', or ${variable}, is only for staging`);
  }
}

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document, as serve with these options serves it')
    .addOption(toSetting('baseUrl', { ...baseUrl, default: LOCAL_SERVICE.baseUrl }))
    .addOption(environmentOption())
    .addHelpText(
      'after',
      examples('petstore openapi --environment production --base-url https://petstore.test/v1'),
    )
    .action(async (options: OpenApiOptions) => {
      const { writeOpenApi } = await import('../../http/openapi.ts');
      process.stdout.write(`${writeOpenApi(options, 2)}\n`);
    });
}
