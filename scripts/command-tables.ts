/** The options and the commands of the command line, for `docs/cli.md`. */

import type { Command, Option } from 'commander';
import { createProgram } from '../src/cli/run.ts';
import { toCode, toPlain } from './markdown.ts';

/** A line for each option: its flag, its variable, its default unless it is false, its description. */
export function listOptions(options: readonly Option[]): string {
  return options
    .map((option) => {
      const { long = '', envVar, description, defaultValue, argChoices } = option;
      const usual = option.defaultValueDescription ?? String(defaultValue || '');
      const inBrackets = usual === '' ? '' : ` (${toCode(usual)})`;
      const choices = argChoices ? `: ${argChoices.map(toCode).join(', ')}` : '';
      const names = envVar ? `${toCode(long)}, ${toCode(envVar)}` : toCode(long);
      return `- ${names}${inBrackets}: ${toPlain(description)}${choices}`;
    })
    .join('\n');
}

/** A section for each command except `serve`: the options of `serve` have a list of their own. */
export function describeCommands(): string {
  // Hidden commands, for the words of other tools, have no description.
  const isDescribed = ({ name, command }: Leaf) =>
    name !== 'petstore serve' && command.description() !== '';
  return findLeaves(createProgram()).filter(isDescribed).map(describe).join('\n\n');
}

/** Options of many commands. The page describes them once. */
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
  const printsJson = command.options.some(({ long }) => long === '--json');
  return [
    `### \`${name}\``,
    toSentence(command.description()),
    ...(args.length + own.length > 0 ? [[...args, listOptions(own)].join('\n').trim()] : []),
    ...(printsJson ? ['Also `--json`.'] : []),
    `\`\`\`sh\n${examples.trim().replace(/^ +/gm, '')}\n\`\`\``,
  ].join('\n\n');
}

function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
