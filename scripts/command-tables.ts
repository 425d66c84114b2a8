/** The options and the commands of the command line, for `docs/cli.md`. */

import type { Command, Option } from 'commander';
import { createProgram } from '../src/cli/run.ts';
import { toCode, toPlain, toTable } from './markdown.ts';

/** A table with a column of variables only if an option has one. */
export function toOptionTable(options: readonly Option[]): string {
  const variables = options.some(({ envVar }) => envVar !== undefined) ? ['variable'] : [];
  return toTable(
    ['option', ...variables, 'default', 'what it is'],
    options.map((option) => {
      const { long, short, envVar = '', defaultValue, argChoices } = option;
      const usual = option.defaultValueDescription ?? String(defaultValue ?? '');
      const choices = argChoices ? `: ${argChoices.map(toCode).join(', ')}` : '';
      return [
        toCode(long ?? short ?? ''),
        ...variables.map(() => toCode(envVar)),
        toCode(usual),
        toPlain(option.description) + choices,
      ];
    }),
  );
}

/** A section for each command but `serve`, whose options have a table of their own. */
export function describeCommands(): string {
  const isDescribed = ({ name }: Leaf) => name !== 'petstore serve';
  return findLeaves(createProgram()).filter(isDescribed).map(describe).join('\n\n');
}

/** Options of most commands, which stand in the page once. */
const SHARED = ['--database', '--json'];

interface Leaf {
  readonly name: string;
  readonly command: Command;
}

function findLeaves(command: Command, path = ''): Leaf[] {
  const name = `${path} ${command.name()}`.trim();
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((each) => findLeaves(each, name));
}

function describe({ name, command }: Leaf): string {
  const args = command.registeredArguments.map(
    (argument) => `- \`${argument.name()}\`: ${toPlain(argument.description)}`,
  );
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  const [, examples = ''] = help.split('\nExamples:\n');
  const own = command.options.filter(({ long }) => !SHARED.includes(long ?? ''));
  const shared = command.options
    .filter((option) => !own.includes(option))
    .map(({ long = '' }) => long);
  return [
    `### \`${name}\``,
    toSentence(command.description()),
    ...(args.length > 0 ? [args.join('\n')] : []),
    ...(own.length > 0 ? [toOptionTable(own)] : []),
    ...(shared.length > 0 ? [`Also ${shared.map(toCode).join(' and ')}.`] : []),
    `\`\`\`sh\n${examples.trim().replace(/^ +/gm, '')}\n\`\`\``,
  ].join('\n\n');
}

function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
