import type { RequestCommand } from "../../operations/contract/request-schemas.ts";

/** Options of a command, which may be just the command: a shell line, or the program and its arguments. */
export function withCommand<Options extends { readonly command: RequestCommand }>(
  given: RequestCommand | Options,
): Options | { readonly command: RequestCommand } {
  return typeof given === "object" && "command" in given ? given : { command: given };
}
