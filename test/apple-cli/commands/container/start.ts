import { existsSync } from "node:fs";
import type { Context, Work } from "../../context.ts";
import { CommandError, ConnectionError } from "../../output/command-error.ts";
import { runInForeground, startProgram } from "./foreground.ts";

/** A program that may read but to which nothing is written sees the end of its input. */
async function closeInput({ api, containers }: Context, id: string): Promise<void> {
  const { socket } = await api.hijack(`/containers/${containers.nameOf(id)}/attach?stream=1&stdin=1`, {});
  socket.on("error", () => {
    // The program ended first.
  });
  socket.destroy();
}

/** Starts an existing container; a running one stays as it is. */
export const start: Work = async (context) => {
  const { containers, options, say, fault } = context;
  const id = options.argument(0);
  const found = await containers.find(id);
  if (found === undefined) throw new CommandError("notFound", `get failed: container ${id} not found`);
  const { configuration, status } = found;
  const attach = options.has("attach") || options.has("interactive");
  if (status.state === "running") {
    if (attach)
      throw new CommandError("invalidArgument", "attach is currently unsupported on already running containers");
    say.out(id);
    return;
  }
  const gone = configuration.mounts.find(({ kind, source }) => kind === "virtiofs" && !existsSync(source));
  if (gone !== undefined) {
    throw new CommandError("invalidState", `mount source path '${gone.source}' does not exist`);
  }
  if (attach) await runInForeground(context, configuration, options.has("interactive"));
  await startProgram(context, configuration);
  if (configuration.interactive) await closeInput(context, id);
  if (fault === "interrupted") throw new ConnectionError("interrupted");
  say.out(id);
};
