import { writeFileSync } from "node:fs";
import type { Configuration } from "../../container/configuration.ts";
import type { Context, Work } from "../../context.ts";
import { CommandError, ConnectionError } from "../../output/command-error.ts";
import { runInForeground, startProgram } from "./foreground.ts";
import { makeContainer } from "./make-container.ts";
import { showProgress } from "../need-image.ts";

/** After a failure the container is deleted, unless it is running. */
async function tidyUp({ api, containers }: Context, { id }: Configuration): Promise<void> {
  const found = await containers.find(id);
  if (found === undefined || found.status.state === "running") return;
  await api.json("DELETE", `/containers/${containers.nameOf(id)}`);
}

function writeId({ options }: Context, id: string): void {
  const file = options.one("cidfile");
  if (file !== undefined) writeFileSync(file, id, { mode: 0o644 });
}

/** Makes a container and runs it, with the command's streams unless it is detached. */
export const run: Work = async (context) => {
  const { options, say, fault } = context;
  const configuration = await makeContainer(context, "run");
  writeId(context, configuration.id);
  showProgress(context, "[6/6] Starting container");
  try {
    if (!options.has("detach")) await runInForeground(context, configuration, configuration.interactive);
    await startProgram(context, configuration);
    if (fault === "interrupted") throw new ConnectionError("interrupted");
    say.out(configuration.id);
  } catch (error) {
    if (error instanceof CommandError) await tidyUp(context, configuration);
    throw error;
  }
};

/** Makes a container without starting it. */
export const create: Work = async (context) => {
  const { id } = await makeContainer(context, "create");
  writeId(context, id);
  if (context.fault === "interrupted") throw new ConnectionError("interrupted");
  context.say.out(id);
};
