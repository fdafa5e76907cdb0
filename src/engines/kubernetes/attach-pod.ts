import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import type { CallOptions } from "../engine.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import type { KubernetesApi } from "./api.ts";
import type { AttachStream } from "./attach-stream.ts";
import { engineTitle, refusal, shownWords } from "./kubernetes-errors.ts";
import { openAttach } from "./open-attach.ts";
import { startFailure, type Pod } from "./pod-status.ts";
import { readPod, type PodKey } from "./remove-pod.ts";

/** Time between tries to attach, which fail until the container runs: often at first, as most start within half a second. */
const triesMs = [
  { untilMs: 1_000, everyMs: 30 },
  { untilMs: 5_000, everyMs: 100 },
] as const;
const lateTryMs = 400;
/** The pod is looked at for a reason after so many tries in a row. */
const triesPerLook = 6;
/** A start that takes longer may lack what a pod's volumes are made of, of which its status says nothing. */
const slowMs = 2_000;

/** Which supervisor is attached to. */
export interface AttachTarget {
  readonly key: PodKey;
  readonly container: string;
  /** Of the pod, for errors. */
  readonly image: string;
  /** Has it there again, if it is gone, what the pod's volumes are made of. */
  readonly restoreVolumes: (options: CallOptions) => Promise<void>;
  readonly onLook?: ((pod: Pod) => void) | undefined;
}

/** Connects the stream to a supervisor; resolves when it has said its first words. @throws why the pod does not start */
export async function attachPod(
  api: KubernetesApi,
  target: AttachTarget,
  stream: AttachStream,
  { signal }: CallOptions,
): Promise<void> {
  let waitedMs = 0;
  for (let tries = 1; ; tries += 1) {
    throwIfCancelled(signal);
    const reason = await tryAttach(api, target, stream, signal);
    if (reason === null) return;
    if (tries % triesPerLook === 0) {
      await assertMayStart(api, target, reason, signal);
      if (waitedMs >= slowMs) await target.restoreVolumes({ signal });
    }
    const everyMs = triesMs.find(({ untilMs }) => waitedMs < untilMs)?.everyMs ?? lateTryMs;
    await untilCancelled(sleep(everyMs), signal);
    waitedMs += everyMs;
  }
}

/** Null: the supervisor has answered. */
async function tryAttach(
  api: KubernetesApi,
  target: AttachTarget,
  stream: AttachStream,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const opened = await openAttach(api, { pod: target.key.name, container: target.container }, signal);
  if (!("status" in opened)) {
    const giveUp = (): void => opened.terminate();
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await stream.use(opened);
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }
  const { status, words } = opened;
  // 400 and 500: there is no container yet; 404: there may be no pod any more.
  if (status !== 400 && status !== 404 && status < 500)
    throw refusal("attach to the pod", { status, body: { message: words } });
  if (status === 404) await assertMayStart(api, target, words, signal);
  return words;
}

async function assertMayStart(
  api: KubernetesApi,
  { key, container, image, onLook }: AttachTarget,
  reason: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const pod = await readPod(api, key, { signal });
  if (pod === null) throw lostError(engineTitle, new Error(shownWords(reason)));
  onLook?.(pod);
  const failure = startFailure(pod, { image, container });
  if (failure !== null) throw failure;
}
