import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../engine.ts";
import type { NetworkTarget } from "../supervised/container/container-network.ts";
import { ownerReferences, type KubernetesApi } from "./kubernetes-api.ts";
import { engineName } from "./kubernetes-errors.ts";
import { deniedLabel, managedBy, type Pod } from "./pod.ts";

/** Whether a pod connects to a target. */
export type Reach = (target: NetworkTarget) => Promise<boolean>;

/** Lets the work look out of a pod that no policy of ours denies anything. */
export type WithOpenPod = (work: (reach: Reach, pod: Pod) => Promise<void>) => Promise<void>;

const policyName = "glovebox-sandboxes";
const maxNameChars = 253;
/** Of the kubelet, which listens on every node. */
const kubeletPort = 10_250;
/** A new pod is open for its first half second under an old policy: Kubernetes promises no more. */
const closesMs = 5_000;
const lookMs = 100;
/** Looks in a row that must find everything closed. */
const minClosedLooks = 2;

/**
 * The policy that denies sandboxes every connection, and the proof from inside each that it is in force: what a pod without the policy
 * reaches is not reached.
 */
export class NetworkWall {
  readonly #api: KubernetesApi;
  readonly #owner: string | undefined;
  /** What an open pod has reached. */
  #targets: Promise<readonly NetworkTarget[]> | undefined;
  /** Whether a pod of this server was ever seen closed: then the cluster enforces policies, if not always in time. */
  #hasHeld = false;

  constructor(api: KubernetesApi, owner: string | undefined) {
    this.#api = api;
    this.#owner = owner;
  }

  /** Whether no open pod is needed any more: what shows that the policy is in force is known, or another pod finds it out. */
  get isReady(): boolean {
    return this.#targets !== undefined;
  }

  /** Has the policy there, and knows what shows that it is in force. @throws UNSUPPORTED, and what the open pod throws */
  async ready(withOpenPod: WithOpenPod): Promise<void> {
    const targets = (this.#targets ??= this.#prepare(withOpenPod));
    targets.catch(() => {
      this.#targets = undefined;
    });
    await targets;
  }

  /** @throws UNSUPPORTED when the pod still reaches something, ENGINE_UNAVAILABLE where others of this server did not */
  async prove(reach: Reach, pod: Pod, { signal }: CallOptions): Promise<void> {
    const targets = [...((await this.#targets) ?? []), ...targetsOf(pod)];
    const isClosed = async (): Promise<boolean> => !(await Promise.all(targets.map(reach))).includes(true);
    let closedLooks = 0;
    for (let waitedMs = 0; waitedMs < closesMs; waitedMs += lookMs) {
      closedLooks = (await isClosed()) ? closedLooks + 1 : 0;
      if (closedLooks >= minClosedLooks) {
        this.#hasHeld = true;
        return;
      }
      await sleep(lookMs, undefined, { signal });
    }
    // The policy may have been deleted: the next sandbox makes it again.
    this.#targets = undefined;
    throw this.#hasHeld ? notInTime() : notEnforced();
  }

  async #prepare(withOpenPod: WithOpenPod): Promise<readonly NetworkTarget[]> {
    await this.#makePolicy();
    const { access } = await this.#api.connection();
    const server = { address: access.url.hostname.replace(/^\[|\]$/g, ""), port: Number(access.url.port || 443) };
    const found: NetworkTarget[] = [];
    await withOpenPod(async (reach, pod) => {
      // The server's name may lead to this machine only.
      const candidates = [...targetsOf(pod), ...(isIP(server.address) === 0 ? [] : [server])];
      const reached = await Promise.all(candidates.map(reach));
      found.push(...candidates.filter((_, index) => reached[index]));
    });
    if (found.length === 0) throw notProvable();
    return found;
  }

  async #makePolicy(): Promise<void> {
    const [path, owner] = await Promise.all([
      this.#api.path("networkpolicies"),
      ownerReferences(this.#api, this.#owner),
    ]);
    // One for each owner, as it goes with its owner: a sandbox is denied the network as long as any of them is there.
    const name = this.#owner === undefined ? policyName : `${policyName}-${this.#owner}`.slice(0, maxNameChars);
    const spec = { podSelector: { matchLabels: deniedLabel }, policyTypes: ["Ingress", "Egress"] };
    const body = {
      ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", spec },
      metadata: { name, labels: managedBy, ...owner },
    };
    // One that is there may say something else: the proof of each pod tells.
    await this.#api.call("deny sandboxes the network", { method: "POST", path, body }, [409]);
  }
}

/** The pod's own node, at each of its addresses. */
function targetsOf({ status }: Pod): readonly NetworkTarget[] {
  const addresses = [status?.hostIP, ...(status?.hostIPs ?? []).map(({ ip }) => ip)];
  const known = new Set(addresses.filter((address) => address !== undefined && isIP(address) !== 0));
  return [...known].map((address) => ({ address: address ?? "", port: kubeletPort }));
}

const accept = "or accept the cluster's network by name (GLOVEBOX_KUBERNETES_ACCEPT=network).";

function notEnforced(): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "The cluster does not enforce network policies: a sandbox reached its node, so nothing was run in it.",
    {
      suggestion: `Install what enforces them (Calico, Cilium or kube-router), ${accept}`,
      context: { engine: engineName, missing: "noNetwork" },
    },
  );
}

function notInTime(): GloveboxError {
  return new GloveboxError(
    "ENGINE_UNAVAILABLE",
    `The cluster's network policy was not in force ${closesMs / 1000} s after a sandbox had started, so nothing was run in it. Earlier ones were closed.`,
    {
      suggestion: "Try again; if it lasts, look whether what enforces the cluster's network policies is running.",
      context: { engine: engineName },
    },
  );
}

function notProvable(): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "Nothing shows whether the cluster enforces network policies: a pod without one reaches neither its node nor the API server.",
    { suggestion: `Ask who runs the cluster, ${accept}`, context: { engine: engineName, missing: "noNetwork" } },
  );
}
