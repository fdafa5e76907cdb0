import type { Context } from "../context.ts";
import { CommandError, NotImitated } from "../output/command-error.ts";

/** Deletes what is named, and finally says what was not deleted. */
export async function deleteNamed(
  { options, say }: Context,
  kind: { readonly many: string; readonly failed: string },
  remove: (name: string) => Promise<boolean>,
): Promise<void> {
  if (options.has("all")) throw new NotImitated(`deleting all ${kind.many} is not imitated`);
  if (options.arguments.length === 0) {
    throw new CommandError("invalidArgument", `no ${kind.many} specified and --all not supplied`);
  }
  const failed: string[] = [];
  for (const name of new Set(options.arguments)) {
    if (await remove(name)) say.out(name);
    else failed.push(`"${name}"`);
  }
  if (failed.length === 0) return;
  throw new CommandError("internalError", `${kind.failed}: [${failed.join(", ")}]`);
}
