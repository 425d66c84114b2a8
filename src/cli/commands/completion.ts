/** `petstore completion`: prints the completion of a shell, made from the tree of commands and options. */

import { Argument, type Command, type Option } from 'commander';
import { examples } from '../output.ts';

/** A word that may come next, and what it is. */
type Word = readonly [word: string, description: string];

/** What may come next, after a command, or after an option that takes a value. */
interface Place {
  readonly after: string;
  readonly words: readonly Word[];
  readonly hasFiles: boolean;
}

interface CommandPlaces {
  readonly place: Place;
  readonly options: readonly Option[];
  readonly values: readonly Place[];
}

const SHELLS = {
  bash: (all: readonly CommandPlaces[]) => `# eval "$(petstore completion bash)"
_petstore() {
  local word words= files= at=petstore
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  # The = of --option=value is a word of its own.
  [[ $current == = ]] && current=
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD - 2]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    ${toWalk(all)}
  done
${toCases(all, ([word]) => word, ['words=', ''])}
  if [[ $files && $current != -* ]]; then
    words=
    compopt -o default 2>/dev/null
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _petstore petstore
`,

  zsh: (all: readonly CommandPlaces[]) => `# eval "$(petstore completion zsh)"
_petstore() {
  local word files= at=petstore before=\${words[CURRENT - 1]}
  local -a found
  for word in "\${(@)words[2,CURRENT - 1]}"; do
    ${toWalk(all)}
  done
  if [[ $PREFIX == --*=* ]]; then
    before=\${PREFIX%%=*}
    compset -P '*='
  fi
${toCases(all, ([word, description]) => quote(`${word}:${description}`), ['found=(', ')'])}
  if [[ -n $files && $PREFIX != -* ]]; then _files; else _describe petstore found; fi
}
(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
compdef _petstore petstore
`,

  fish: (all: readonly CommandPlaces[]) => `# petstore completion fish | source
function __petstore_at
  set -l at petstore
  for word in (commandline -opc)[2..-1]
    contains -- "$at $word" ${listBelow(all).join(' ')}; and set at "$at $word"
  end
  test "$at" = "$argv"
end
complete -c petstore -f
${all.flatMap(toFishLines).join('\n')}
`,
};

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print what completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      examples(
        'petstore completion fish | source',
        'eval "$(petstore completion bash)"',
        'eval "$(petstore completion zsh)"',
      ),
    )
    .action((shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](listPlaces(program)));
    });
}

/** Those of the command and of all below it, as their help shows them. */
function listPlaces(command: Command, after = command.name()): CommandPlaces[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const words = [
    ...below.map((one): Word => [one.name(), one.description()]),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map(toWord)),
    ...options.map(({ long, description }): Word => [long ?? '', description]),
  ];
  const values = options
    .filter(({ required }) => required)
    .map(({ long, flags, argChoices = [] }) => ({
      ...{ after: `${after} ${long}`, words: argChoices.map(toWord), hasFiles: isFile(flags) },
    }));
  const hasFiles = command.registeredArguments.some((argument) => isFile(`<${argument.name()}>`));
  return [
    { place: { after, words, hasFiles }, options, values },
    ...below.flatMap((one) => listPlaces(one, `${after} ${one.name()}`)),
  ];
}

function toWord(choice: string): Word {
  return [choice, ''];
}

/** Whether the placeholder of a value names a file. */
function isFile(flags: string): boolean {
  return /<(?:file|directory)>/.test(flags);
}

/** The paths of all commands but the program. */
function listBelow(all: readonly CommandPlaces[]): string[] {
  return all.slice(1).map(({ place }) => quote(place.after));
}

/** The statement of bash and zsh that goes from a command to the one below it. */
function toWalk(all: readonly CommandPlaces[]): string {
  return `case "$at $word" in ${listBelow(all).join('|')}) at+=" $word" ;; esac`;
}

/** The statement of bash and zsh that sets what may come next, each word written by `write`. */
function toCases(
  all: readonly CommandPlaces[],
  write: (word: Word) => string,
  [opening, closing]: readonly [string, string],
): string {
  const toCase = ({ after, words, hasFiles }: Place) => {
    const list = words.map(write).join(' ');
    const value = closing === '' ? quote(list) : list;
    return `    ${quote(after)}) ${opening}${value}${closing}${hasFiles ? ' files=1' : ''} ;;`;
  };
  return [
    '  case "$at $before" in',
    ...all.flatMap(({ values }) => values.map(toCase)),
    '    *) case "$at" in',
    ...all.map(({ place }) => toCase(place)),
    '    esac ;;',
    '  esac',
  ].join('\n');
}

function toFishLines({ place, options }: CommandPlaces): string[] {
  const start = `complete -c petstore -n ${quote(`__petstore_at ${place.after}`)}`;
  const words = place.words.filter(([word]) => !word.startsWith('-'));
  const flags = options.map(({ long, flags, description, required, argChoices = [] }) => {
    const value = isFile(flags) ? ' -r -F' : ` -x -a ${quote(argChoices.join(' '))}`;
    return `${start} -l ${long?.slice(2)}${required ? value : ''} -d ${quote(description)}`;
  });
  return [
    ...words.map(([word, description]) => `${start} -a ${word} -d ${quote(description)}`),
    ...flags,
    ...(place.hasFiles ? [`${start} -F`] : []),
  ];
}

/** As one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
