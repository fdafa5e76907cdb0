import type { Context, Work } from "../../context.ts";
import type { Found } from "../../docker/containers.ts";
import { DockerError, type DockerApi } from "../../docker/docker-api.ts";
import { CommandError } from "../../output/command-error.ts";
import { isAtLeast } from "../../parser/version.ts";
import { eachContainer } from "./each-container.ts";
import { readSignal } from "./signal-names.ts";

const stopSeconds = 5;

/** It is not a failure if the container has already ended or is gone. */
async function unlessOver(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DockerError) || ![304, 404, 409].includes(error.status)) throw error;
  }
}

/** Resolves when the container is not running any more, or is gone. */
function ended(api: DockerApi, name: string): Promise<void> {
  return unlessOver(api.json("POST", `/containers/${name}/wait?condition=not-running`));
}

async function stopOne({ api, options }: Context, { name, status, configuration }: Found): Promise<"done"> {
  if (status.state !== "running") return "done";
  const signal = readSignal(options.one("signal") ?? configuration.stopSignal ?? "SIGTERM");
  const over = ended(api, name);
  await unlessOver(api.json("POST", `/containers/${name}/kill?signal=${signal}`));
  const timer = new AbortController();
  const late = new Promise<"late">((resolve) => {
    const timeout = setTimeout(() => resolve("late"), (options.number("time") ?? stopSeconds) * 1000);
    timer.signal.addEventListener("abort", () => clearTimeout(timeout));
  });
  if ((await Promise.race([over, late])) === "late") {
    await unlessOver(api.json("POST", `/containers/${name}/kill?signal=SIGKILL`));
    await over;
  }
  timer.abort();
  return "done";
}

/** Asks containers to end, and kills them after a while. */
export const stop: Work = async (context) => {
  const { settings, containers, options } = context;
  if (!isAtLeast(settings.version, "0.10.0") && !options.has("all")) {
    for (const id of options.arguments) if ((await containers.find(id)) === undefined) return;
  }
  await eachContainer(context, "stop", (found) => stopOne(context, found));
};

/** Sends a signal to containers' first processes; KILL waits for the end. */
export const kill: Work = async (context) => {
  const { api, options, settings } = context;
  await eachContainer(context, "kill", async ({ name, status }) => {
    const signal = readSignal(options.one("signal") ?? "KILL");
    if (status.state !== "running") {
      throw new CommandError("invalidState", "no runtime client exists: container is stopped");
    }
    const over = ended(api, name);
    over.catch(() => {
      // Only a signal whose effect is awaited may fail.
    });
    await unlessOver(api.json("POST", `/containers/${name}/kill?signal=${signal}`));
    if ((signal === "SIGKILL" || signal === "9") && isAtLeast(settings.version, "1.0.0")) await over;
    return "done";
  });
};

/** Older versions delete nothing at all if one of the ids is unknown. */
async function refuseUnknown({ containers, options }: Context): Promise<void> {
  const found = await Promise.all(options.arguments.map((id) => containers.find(id)));
  const missing = options.arguments.filter((_, index) => found[index] === undefined).map((id) => `"${id}"`);
  if (missing.length === 0) return;
  throw new CommandError("notFound", `failed to delete one or more containers: [${missing.join(", ")}]`);
}

/** Removes containers; with --force also running ones. Their anonymous volumes stay. */
export const remove: Work = async (context) => {
  const { api, options, settings } = context;
  const force = options.has("force");
  if (!isAtLeast(settings.version, "0.11.0")) await refuseUnknown(context);
  await eachContainer(context, "delete", async ({ name, status }, id) => {
    if (status.state === "running" && !force) {
      if (options.has("all")) return "skipped";
      throw new CommandError("invalidState", `container ${id} is running and can not be deleted`);
    }
    await unlessOver(api.json("DELETE", `/containers/${name}?force=true`));
    // A removal that is already in progress ends by itself.
    await unlessOver(api.json("POST", `/containers/${name}/wait?condition=removed`));
    return "done";
  });
};

/** Removes every container that is not running. */
export const prune: Work = async ({ api, containers, say }) => {
  for (const { name, status, configuration } of await containers.list()) {
    if (status.state === "running") continue;
    await unlessOver(api.json("DELETE", `/containers/${name}`));
    say.out(configuration.id);
  }
  say.err("Reclaimed Zero KB in disk space");
};
