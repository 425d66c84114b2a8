/** `petstore openapi`: prints the OpenAPI document. */

import type { Command } from 'commander';
import { examples } from '../output.ts';

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .addHelpText('after', examples('petstore openapi > openapi.json'))
    .action(async () => {
      const { createDocument } = await import('../../service/document.ts');
      process.stdout.write(`${await createDocument()}\n`);
    });
}
