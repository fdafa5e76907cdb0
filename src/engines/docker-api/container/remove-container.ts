import { setTimeout as sleep } from "node:timers/promises";
import { cancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engine.ts";
import type { Api } from "../http/api.ts";
import { refusalReason } from "../http/api-error.ts";
import { inspectContainer } from "./inspect-container.ts";

const firstLookMs = 5;
const maxMs = 200;
/** How long a removal that someone else has begun may take. */
const maxLooks = 100;

export interface RemoveOptions extends CallOptions {
  /** Whether its nameless volumes stay, for another container that has them. Default false. */
  readonly keepVolumes?: boolean | undefined;
}

/** Ends and removes a container and its volumes; resolves when it is gone. `idOrName` may be either. */
export async function removeContainer(
  api: Api,
  idOrName: string,
  { signal, keepVolumes = false }: RemoveOptions = {},
): Promise<void> {
  const query = { force: "1", v: keepVolumes ? "0" : "1" };
  const request = { method: "DELETE", path: `/containers/${idOrName}`, query, signal } as const;
  const answer = await api.call("remove the container", request, [404, 409, 500]);
  if (answer.status !== 409 && answer.status !== 500) return;
  // It may be being removed already, by itself after its end or by another call.
  if (answer.status === 500 && !/container state improper|being removed|stopping/.test(refusalReason(answer))) {
    throw api.refusal("remove the container", answer);
  }
  for (let look = 0, delayMs = firstLookMs; look < maxLooks; look += 1, delayMs = Math.min(delayMs * 2, maxMs)) {
    if ((await inspectContainer({ id: idOrName, api }, { signal })) === null) return;
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw cancelled(error);
    });
  }
  throw new GloveboxError("INTERNAL", "The engine began to remove the container and does not come to an end.");
}
