import type { EngineFinding } from "../engine-finding.ts";
import type { CallOptions } from "../engine.ts";
import type { KubernetesApi } from "./api.ts";
import { shownWords } from "./kubernetes-errors.ts";

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
export async function nodeFindings(
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
