/** `petstore pets`: the group of the commands that read and change the pets of a store. */

import type { Command } from 'commander';
import { examples } from '../output.ts';

/** The group, to which other files add commands too. */
export function addPets(program: Command): Command {
  return program
    .command('pets')
    .description('import pets from a file, export them to one')
    .addHelpText('after', examples('petstore pets import pets.csv', 'petstore pets export'));
}
