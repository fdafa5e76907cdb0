import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineFinding } from "../capabilities.ts";
import type { CallOptions } from "../engine.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";
import { shownWords } from "./kubernetes-errors.ts";

export interface ClusterCheck {
  /** A pod as runs get it. */
  readonly pod: object;
  /** Processors of the nodes that sandboxes go to. */
  readonly architecture: string;
  /** Whether the deployment accepts the cluster's network. */
  readonly acceptsNetwork: boolean;
}

/** What is wrong with a cluster, by questions and trial requests that make nothing. @throws CANCELLED, ENGINE_UNAVAILABLE */
export async function checkCluster(
  api: KubernetesApi,
  { pod, architecture, acceptsNetwork }: ClusterCheck,
  options: CallOptions,
): Promise<readonly EngineFinding[]> {
  const found = await Promise.all([
    missingRights(api, options),
    excessiveRights(api, options),
    podFindings(api, pod, options),
    privilegedPods(api, options),
    nodeFindings(api, architecture, options),
  ]);
  return [...found.flat(), ...(acceptsNetwork ? [] : [shownByPods])];
}

const shownByPods: EngineFinding = {
  severity: "note",
  what: "Whether the cluster enforces network policies, and lets attached streams through, shows only from inside a pod.",
  why: "Each sandbox shows it before its program runs, and is refused where it does not hold.",
  fix: "To try it now, with all other walls: `glovebox doctor --prove --engine kubernetes`.",
};

async function missingRights(api: KubernetesApi, options: CallOptions): Promise<readonly EngineFinding[]> {
  const { missing } = await rightsOf(api, neededRights, options);
  if (missing.length === 0) return [];
  const { namespace } = (await api.connection()).access;
  return [
    {
      severity: "warning",
      what: `The account lacks rights in the namespace ${namespace}: ${missing.join(", ")}.`,
      why: "Sandboxes fail at the first call that needs one.",
      fix: "Give it the Role of deploy/kubernetes/namespace.yaml (`kubectl auth can-i --list` shows what it has).",
    },
  ];
}

async function excessiveRights(api: KubernetesApi, options: CallOptions): Promise<readonly EngineFinding[]> {
  const { held } = await rightsOf(api, dangerousRights, options);
  if (held.length === 0) return [];
  return [
    {
      severity: "note",
      what: `The account may do more than Glovebox needs: ${held.join(", ")}.`,
      why: "Whoever takes over the server has these rights too.",
      fix: "Use the service account of deploy/kubernetes/namespace.yaml.",
    },
  ];
}

/** Whether admission takes a sandbox's pod: pod security, quota, limit ranges and webhooks, in their own words. */
async function podFindings(
  api: KubernetesApi,
  pod: object,
  { signal }: CallOptions,
): Promise<readonly EngineFinding[]> {
  try {
    await api.call("create a pod", { ...(await trialOf(api, pod)), signal });
    return [];
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    const full = error.errorType === "CAPACITY";
    return [
      {
        severity: "warning",
        what: `The cluster would not take a sandbox now: ${error.message}`,
        why: full ? "Runs are refused until there is room again." : "Every run is refused.",
        fix: full ? "Raise the quota of the namespace, or wait for other pods to end." : error.suggestion,
      },
    ];
  }
}

/** Only an acceptance tells something: there are many reasons to refuse one. */
async function privilegedPods(api: KubernetesApi, { signal }: CallOptions): Promise<readonly EngineFinding[]> {
  const container = { name: "trial", image: "trial", securityContext: { privileged: true } };
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { generateName: "glovebox-trial-" } },
    spec: { containers: [container] },
  };
  const { status } = await api.call(
    "try a privileged pod",
    { ...(await trialOf(api, pod)), signal },
    [400, 403, 409, 422],
  );
  if (status >= 300) return [];
  const { namespace } = (await api.connection()).access;
  return [
    {
      severity: "warning",
      what: `The namespace ${namespace} takes privileged pods.`,
      why: "Whoever takes over the server can make one, and with it has the node.",
      fix: `Forbid them: \`kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted\`.`,
    },
  ];
}

/** A request by which the server decides as usual, and keeps nothing. */
async function trialOf(api: KubernetesApi, body: object) {
  return { method: "POST", path: await api.path("pods"), query: { dryRun: "All" }, body } as const;
}

/** What an account may do with objects of one kind. */
interface Right {
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
const dangerousRights: readonly Right[] = [
  { group: "", resource: "secrets", verbs: ["get"] },
  { group: "", resource: "nodes/proxy", verbs: ["get"] },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: ["delete"] },
  { group: "rbac.authorization.k8s.io", resource: "rolebindings", verbs: ["create"] },
];

/** Those of the rights that the account has, or lacks, one entry for each verb, such as `create pods/attach`. */
async function rightsOf(
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

/** The part of a node that is read. */
interface Node {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
    readonly runtimeHandlers?: readonly {
      readonly name?: string;
      readonly features?: { readonly userNamespaces?: boolean };
    }[];
  };
}

/** Enough to judge by; a cluster may have thousands. */
const maxNodes = 500;

/** What its nodes tell, where the account may look at them, which no run needs. */
async function nodeFindings(
  api: KubernetesApi,
  architecture: string,
  { signal }: CallOptions,
): Promise<readonly EngineFinding[]> {
  const labelSelector = `kubernetes.io/os=linux,kubernetes.io/arch=${architecture}`;
  const query = { limit: String(maxNodes), labelSelector };
  const { status, body } = await api.call(
    "look at the nodes",
    { method: "GET", path: "/api/v1/nodes", query, signal },
    [403],
  );
  if (status === 403) return [notTold];
  const nodes = (body as { readonly items?: readonly Node[] }).items ?? [];
  const usable = nodes.filter(takesPods);
  if (usable.length === 0) return [noNode(architecture)];
  const old = usable.map(({ status: told }) => told?.nodeInfo?.kubeletVersion ?? "").filter(isTooOld);
  const mapped = usable.filter(({ status: told }) =>
    told?.runtimeHandlers?.some(({ name, features }) => (name ?? "") === "" && features?.userNamespaces === true),
  );
  return [...(old.length === 0 ? [] : [oldNodes(old)]), userNamespaces(mapped.length, usable.length)];
}

function takesPods({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  return isReady && spec?.unschedulable !== true;
}

const firstMinor = 30;

function isTooOld(version: string): boolean {
  const minor = /^v1\.(\d{1,4})\b/.exec(version)?.[1];
  return minor !== undefined && Number(minor) < firstMinor;
}

const notTold: EngineFinding = {
  severity: "note",
  what: "The account may not look at nodes, so nothing is known of their versions, processors and user namespaces.",
  why: "Runs do not need it.",
  fix: "Run doctor once with an administrator's kubeconfig.",
};

function noNode(architecture: string): EngineFinding {
  return {
    severity: "warning",
    what: `The cluster has no node that is ready for sandboxes: Linux on ${architecture}.`,
    why: "Every run is refused with CAPACITY.",
    fix: "Add one, or set GLOVEBOX_KUBERNETES_ARCHITECTURE to what the nodes have.",
  };
}

function oldNodes(versions: readonly string[]): EngineFinding {
  return {
    severity: "warning",
    what: `${versions.length} nodes have a kubelet that is too old, such as ${shownWords(versions[0])}.`,
    why: "Sandboxes that the scheduler puts there cannot be reached: Glovebox needs 1.30 or newer.",
    fix: "Upgrade these nodes, or cordon them.",
  };
}

function userNamespaces(mapped: number, all: number): EngineFinding {
  const have = mapped === all ? "All nodes" : mapped === 0 ? "No node" : `${mapped} of ${all} nodes`;
  return {
    severity: "note",
    what: `${have} could give pods user namespaces.`,
    why: "Sandboxes do without: each has a user of its own number, which is the same number on the node.",
    fix: "Nothing needs to be done.",
  };
}
