/** Options of a command, which may be just the program and its arguments. */
export function withCommand<Options extends { readonly command: readonly string[] }>(
  given: readonly string[] | Options,
): Options | { readonly command: readonly string[] } {
  return "command" in given ? given : { command: given };
}
