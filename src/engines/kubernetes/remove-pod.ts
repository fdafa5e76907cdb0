import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions } from "../engine.ts";
import type { KubernetesApi } from "./api.ts";
import { graceSeconds } from "./pod-manifest.ts";
import type { Pod } from "./pod-status.ts";

/** A pod, by the name that it was given and by what tells it from a later one of that name. */
export interface PodKey {
  readonly name: string;
  readonly uid: string;
}

const lookMs = 100;

/** The pod as it is now; null: it is gone, with all that ran in it. */
export async function readPod(api: KubernetesApi, { name, uid }: PodKey, { signal }: CallOptions): Promise<Pod | null> {
  const path = await api.path("pods", name);
  const { status, body } = await api.call("look at the pod", { method: "GET", path, signal }, [404]);
  const pod = body as unknown as Pod;
  return status === 404 || pod.metadata.uid !== uid ? null : pod;
}

/** Has the pod ended, with the shortest grace that tells the truth about it; nothing is waited for. */
export async function deletePod(api: KubernetesApi, { name, uid }: PodKey, { signal }: CallOptions): Promise<void> {
  const body = { gracePeriodSeconds: graceSeconds, propagationPolicy: "Background", preconditions: { uid } };
  const path = await api.path("pods", name);
  // 409: another pod has the name by now.
  await api.call("remove the pod", { method: "DELETE", path, body, signal }, [404, 409]);
}

/** Has the pod ended, and waits until it is gone: the kubelet lets the object go when nothing of it runs any more. */
export async function removePod(
  api: KubernetesApi,
  key: PodKey,
  { signal, onLook }: CallOptions & { readonly onLook?: (pod: Pod) => void } = {},
): Promise<void> {
  await deletePod(api, key, { signal });
  for (let pod = await readPod(api, key, { signal }); pod !== null; pod = await readPod(api, key, { signal })) {
    onLook?.(pod);
    await sleep(lookMs, undefined, { signal });
  }
}
