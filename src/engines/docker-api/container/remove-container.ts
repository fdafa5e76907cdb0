import { setTimeout as sleep } from "node:timers/promises";
import { cancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engine.ts";
import type { Api } from "../http/api.ts";
import type { ApiAnswer } from "../http/api-request.ts";
import { refusalReason } from "../http/api-error.ts";
import { inspectContainer } from "./inspect-container.ts";

const firstLookMs = 5;
const maxMs = 200;
/** Each wait is a quarter longer than the one before, so that little more is waited than the removal takes. */
const growth = 1.25;
/** How long a removal that someone else has started may take. */
const maxLooks = 100;
/** How often a removal that failed in the engine is requested, and how long we wait in between. */
const maxTries = 5;
const againMs = 200;

export interface RemoveOptions extends CallOptions {
  /** Whether its anonymous volumes stay because another container has them. Default false. */
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
  for (let tries = 1; ; tries += 1) {
    const answer = await api.call("remove the container", request, [404, 409, 500]);
    if (answer.status !== 409 && answer.status !== 500) return;
    if (isBeingRemoved(answer)) return untilGone(api, idOrName, signal);
    if (tries === maxTries) throw api.refusal("remove the container", answer);
    // Podman gives up on killed programs that have not died at once, as on a busy machine; later they have.
    await rest(againMs, signal);
  }
}

/** By itself after its end, or through another call. */
function isBeingRemoved(answer: ApiAnswer): boolean {
  return answer.status === 409 || /container state improper|being removed|stopping/.test(refusalReason(answer));
}

async function untilGone(api: Api, idOrName: string, signal: AbortSignal | undefined): Promise<void> {
  for (let look = 0, delayMs = firstLookMs; look < maxLooks; look += 1, delayMs = Math.min(delayMs * growth, maxMs)) {
    if ((await inspectContainer({ id: idOrName, api }, { signal })) === null) return;
    await rest(delayMs, signal);
  }
  throw new GloveboxError("INTERNAL", "The engine began to remove the container and does not come to an end.");
}

async function rest(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(delayMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw cancelled(error);
  });
}
