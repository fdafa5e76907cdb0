import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineFinding } from "../engine-finding.ts";
import type { CallOptions } from "../engine.ts";
import { dangerousRights, neededRights, rightsOf } from "./account-rights.ts";
import type { KubernetesApi } from "./api.ts";
import { nodeFindings } from "./check-nodes.ts";

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
