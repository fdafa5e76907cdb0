/**
 * One option and its value as one word: only so may a value begin with a dash.
 * @throws Error for an empty value, which the command would replace by the next word
 */
export function option(name: string, value: string): string {
  if (value === "") throw new Error(`Option --${name} was given no value.`);
  return `--${name}=${value}`;
}
