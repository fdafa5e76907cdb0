import type { CallOptions } from "../engine.ts";
import type { KubernetesApi } from "./api.ts";

/** What an account may do with objects of one kind. */
export interface Right {
  /** API group; empty: the core's. */
  readonly group: string;
  /** The kind's name in paths, with its part, such as `pods/attach`. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** All that an engine needs, in its namespace; deploy/kubernetes gives a service account exactly these. */
export const neededRights: readonly Right[] = [
  { group: "", resource: "pods", verbs: ["create", "get", "list", "delete"] },
  // Attaching over a WebSocket takes both.
  { group: "", resource: "pods/attach", verbs: ["create", "get"] },
  { group: "", resource: "configmaps", verbs: ["create", "get"] },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: ["create"] },
  { group: "coordination.k8s.io", resource: "leases", verbs: ["create", "get", "list", "patch", "delete"] },
];

/** What would let whoever takes the server over leave its namespace, see secrets, or open sandboxes. */
export const dangerousRights: readonly Right[] = [
  { group: "", resource: "secrets", verbs: ["get"] },
  { group: "", resource: "nodes/proxy", verbs: ["get"] },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: ["delete"] },
  { group: "rbac.authorization.k8s.io", resource: "rolebindings", verbs: ["create"] },
];

/** Those of the rights that the account has, or lacks, one entry for each verb, such as `create pods/attach`. */
export async function rightsOf(
  api: KubernetesApi,
  rights: readonly Right[],
  { signal }: CallOptions,
): Promise<{ readonly held: readonly string[]; readonly missing: readonly string[] }> {
  const { namespace } = (await api.connection()).access;
  const asked = rights.flatMap((right) => right.verbs.map((verb) => ({ ...right, verb })));
  const allowed = await Promise.all(
    asked.map(async ({ group, resource, verb }) => {
      const [kind, subresource] = resource.split("/");
      const resourceAttributes = {
        ...{ namespace, group, verb, resource: kind },
        ...(subresource === undefined ? {} : { subresource }),
      };
      const { body } = await api.call("ask what it may do", {
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        body: {
          ...{ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } },
        },
        signal,
      });
      return (body["status"] as { readonly allowed?: unknown } | undefined)?.allowed === true;
    }),
  );
  const named = asked.map(({ verb, resource }) => `${verb} ${resource}`);
  return {
    held: named.filter((_, index) => allowed[index]),
    missing: named.filter((_, index) => !allowed[index]),
  };
}
