import { settlesWithin, Deadline } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ContainerState } from "../../engine.ts";
import type { ChannelEnd } from "../channel/channel-end.ts";
import type { Loss } from "../channel/stream.ts";
import type { EngineContainer } from "./engine-container.ts";

/** How long an engine may take to notice an end, and to bring one about. */
const endMs = 10_000;
/** How long a supervisor may take to end by itself when its stream has ended. */
const ownEndMs = 1_000;

/**
 * What became of a container whose channel is over: ends it, if it has not ended, and asks the engine once why. The place of a
 * sandbox is free only when the engine confirms its end.
 */
export async function containerLoss(place: EngineContainer, end: ChannelEnd, isEndedByUs: boolean): Promise<Loss> {
  const isGone = await confirmEnd(place);
  if (isEndedByUs) return { error: null, isGone };
  const state = await place.inspect({}).catch(() => null);
  return { error: lossError(place, end, state), isGone };
}

/** Whether the engine says that nothing of it runs; if it does, it is killed. */
async function confirmEnd(place: EngineContainer): Promise<boolean> {
  using deadline = new Deadline(3 * endMs);
  const ended = place.wait({ signal: deadline.signal });
  const result = ended.then(
    () => true,
    () => false,
  );
  if (!(await settlesWithin(result, ownEndMs))) await settlesWithin(place.kill(), endMs);
  const isTold = await settlesWithin(result, endMs);
  return isTold && (await result);
}

function lossError({ engine }: EngineContainer, end: ChannelEnd, state: ContainerState | null): GloveboxError {
  const cause = new Error(`${end.reason}: ${end.detail}`);
  const context = { engine: engine.name, reason: end.reason };
  if (end.reason === "refused") {
    return new GloveboxError(
      "UNSUPPORTED",
      `The sandbox on ${engine.title} is not sealed as it must be (${end.detail}), so nothing was run in it.`,
      { suggestion: "Look into the engine's settings (`glovebox doctor`), or choose another engine.", context, cause },
    );
  }
  if (state?.oomKilled === true) {
    return new GloveboxError("OOM_KILLED", "The sandbox ran out of memory and was ended.", { context, cause });
  }
  return new GloveboxError("SANDBOX_LOST", `The container on ${engine.title} ended for a reason outside Glovebox.`, {
    context,
    cause,
  });
}
