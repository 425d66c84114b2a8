/** `petstore openapi`: prints the OpenAPI document. */

import type { Command } from 'commander';
import type { OpenApiOptions } from '../../http/openapi.ts';
import { baseUrlOption, environmentOption } from '../options.ts';
import { examples } from '../output.ts';

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document, as serve with these options serves it')
    .addOption(baseUrlOption())
    .addOption(environmentOption().default('production'))
    .addHelpText('after', examples('petstore openapi --base-url https://petstore.test/v1'))
    .action(async (options: OpenApiOptions) => {
      const { writeOpenApi } = await import('../../http/openapi.ts');
      process.stdout.write(`${writeOpenApi(options, 2)}\n`);
    });
}
