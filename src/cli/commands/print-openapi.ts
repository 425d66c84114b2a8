/** `petstore openapi`: prints the OpenAPI document. */

import type { Command } from 'commander';
import type { OpenApiOptions } from '../../http/openapi.ts';
import { SERVE_OPTIONS } from '../../service/serve-options.ts';
import { environmentOption, toSetting } from '../options.ts';
import { addExamples } from '../output.ts';
import { print } from '../standard-output.ts';

const { host, port, environment, baseUrl } = SERVE_OPTIONS;

/** The address of `serve` without options: a tool that imports the document needs an address to call. */
export const LOCAL_SERVICE: OpenApiOptions = {
  environment: environment.default,
  baseUrl: `http://${host.default}:${port.default}/v1`,
};

export function addOpenApi(program: Command): void {
  addExamples(
    program.command('openapi'),
    'petstore openapi --environment production --base-url https://petstore.test/v1',
  )
    .description('print the OpenAPI document, as serve with these options serves it')
    .addOption(toSetting('baseUrl', { ...baseUrl, default: LOCAL_SERVICE.baseUrl }))
    .addOption(environmentOption())
    .action(async (options: OpenApiOptions) => {
      const { writeOpenApi } = await import('../../http/openapi.ts');
      await print(`${writeOpenApi(options, 2)}\n`);
    });
}
