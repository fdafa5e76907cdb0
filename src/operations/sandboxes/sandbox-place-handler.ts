import { GloveboxError } from "../../errors/glovebox-error.ts";
import { handle } from "../handling/handler.ts";
import { meantSandbox } from "./meant-sandbox.ts";
import { findSandboxPlaceContract } from "./sandbox-place-contract.ts";

/** `find_sandbox_place`: other principals' sandboxes are treated as if they did not exist. */
export const findSandboxPlaceHandler = handle(
  findSandboxPlaceContract,
  async (platform, { sandbox_id: word }, { principal }) => {
    const { sessions, environments, sandboxes } = platform;
    const id = await meantSandbox(platform, word, { principal });
    const isLive = sandboxes.recordsOf(principal).some((each) => each.id === id);
    // If its sandbox is gone, a session or environment already has another one, or gets it with its next call.
    if (!isLive || sandboxes.find(id)?.state !== "running") throw notFound(id);
    const session = sessions.list(principal).find(({ sandboxId }) => sandboxId === id);
    if (session !== undefined) return { session_id: session.id };
    const environment = environments.up(principal).find(({ sandboxId }) => sandboxId === id);
    if (environment !== undefined) return { env_id: environment.spec.id };
    throw noPlace(id);
  },
);

function noPlace(id: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${id} does not belong to a session or an environment.`, {
    suggestion:
      "A program's own sandbox is removed with it: use a session or an environment to keep files and processes.",
    context: { sandbox_id: id },
  });
}

function notFound(id: string): GloveboxError {
  const shown = id.slice(0, 80);
  return new GloveboxError("NOT_FOUND", `You have no live sandbox ${JSON.stringify(shown)} here.`, {
    suggestion:
      "Take the sandbox_id of a result; the files and processes of a session or an environment are reached by its own id, too.",
    context: { sandbox_id: shown },
  });
}
