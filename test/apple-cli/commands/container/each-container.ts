import type { Context } from "../../context.ts";
import type { Found } from "../../docker/containers.ts";
import { CommandError, ConnectionError, SeveralErrors } from "../../output/command-error.ts";

/** Containers that `stop`, `kill` and `delete` are told to deal with. */
async function namedIds({ containers, options }: Context): Promise<readonly string[]> {
  const ids = [...new Set(options.arguments)];
  if (!options.has("all")) {
    if (ids.length > 0) return ids;
    throw new CommandError("invalidArgument", "no containers specified and --all not supplied");
  }
  if (ids.length > 0) {
    throw new CommandError("invalidArgument", "explicitly supplied container ID(s) conflict with the --all flag");
  }
  return (await containers.list()).map(({ configuration }) => configuration.id);
}

/** Does the work on all containers at once, prints the ids for which it succeeded, and fails with the others. */
export async function eachContainer(
  context: Context,
  verb: "stop" | "kill" | "delete",
  work: (found: Found, id: string) => Promise<"done" | "skipped">,
): Promise<void> {
  const { containers, say, fault } = context;
  const errors: CommandError[] = [];
  const one = async (id: string): Promise<void> => {
    try {
      const found = await containers.find(id);
      if (found === undefined) throw new CommandError("notFound", `container with ID ${id} not found`);
      if ((await work(found, id)) === "done" && fault !== "interrupted") say.out(id);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      errors.push(new CommandError("internalError", `failed to ${verb} container`, error));
    }
  };
  await Promise.all((await namedIds(context)).map(one));
  if (fault === "interrupted") throw new ConnectionError("interrupted");
  if (errors.length > 0) throw new SeveralErrors(errors);
}
