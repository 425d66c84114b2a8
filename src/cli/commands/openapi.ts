/** `petstore openapi`: prints the OpenAPI document. */

import type { Command } from 'commander';
import type { DocumentOptions } from '../../service/document.ts';
import { baseUrlOption, environmentOption } from '../options.ts';
import { examples } from '../output.ts';

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document, as serve with these options serves it')
    .addOption(baseUrlOption())
    .addOption(environmentOption().default('production'))
    .addHelpText('after', examples('petstore openapi --base-url https://petstore.test/v1'))
    .action(async (options: DocumentOptions) => {
      const { createDocument } = await import('../../service/document.ts');
      process.stdout.write(`${await createDocument(options)}\n`);
    });
}
