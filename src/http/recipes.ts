/** Small clients to copy: the files of `docs/recipes`, in the checkout and in the package. */

/** By the name of the file, what it is written in. */
export const RECIPES: ReadonlyMap<string, string> = new Map([
  ['curl.sh', 'curl'],
  ['package.ts', 'TypeScript'],
  ['fetch.ts', 'TypeScript without a package'],
  ['python.py', 'Python'],
]);
