import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../engine.ts";
import type { KubernetesApi } from "./api.ts";
import { engineName } from "./kubernetes-errors.ts";

/** Part of an object's metadata by which the cluster removes it with its owner. */
export interface OwnerReferences {
  readonly ownerReferences?: readonly [
    { readonly apiVersion: "v1"; readonly kind: "ConfigMap"; readonly name: string; readonly uid: string },
  ];
}

/**
 * References to the ConfigMap that the deployment names; none where it names none. Asked for each object: what names an owner that was
 * made again under its name is removed at once.
 * @throws NOT_FOUND when there is no such ConfigMap
 */
export async function ownerReferences(
  api: KubernetesApi,
  name: string | undefined,
  { signal }: CallOptions = {},
): Promise<OwnerReferences> {
  if (name === undefined) return {};
  const path = await api.path("configmaps", name);
  const look = { method: "GET", path, signal, metadataOnly: true } as const;
  const { status, body } = await api.call("look at the owner of its objects", look, [404]);
  if (status === 404) throw noOwner(name);
  const { uid } = body["metadata"] as { readonly uid: string };
  return { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid }] };
}

function noOwner(name: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `There is no ConfigMap ${name}, which is to own what Glovebox makes.`, {
    suggestion: `Make it (kubectl create configmap ${name}), or leave GLOVEBOX_KUBERNETES_OWNER out.`,
    context: { engine: engineName },
  });
}
