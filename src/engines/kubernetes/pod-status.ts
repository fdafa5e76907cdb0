import { GloveboxError } from "../../errors/glovebox-error.ts";
import { imageUnavailable } from "../image-errors.ts";
import { pullFailed } from "../pull-failure.ts";
import type { ContainerState } from "../engine.ts";
import { engineName, shownWords } from "./kubernetes-errors.ts";
import { containerName } from "./pod-manifest.ts";

/** The part of a pod that is read. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly creationTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly env?: readonly { readonly name: string }[];
      readonly envFrom?: readonly object[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    /** Of its node. */
    readonly hostIP?: string;
    readonly hostIPs?: readonly { readonly ip: string }[];
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Words[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

interface Words {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly imageID?: string;
  readonly state?: {
    readonly waiting?: Words;
    readonly running?: object;
    readonly terminated?: Words & { readonly exitCode?: number };
  };
}

/** Names of the variables that an admission has put into a container of ours, which asks for none; null: nobody knows them all. */
export function injectedVariables({ spec }: Pod): ReadonlySet<string> | null {
  const { env = [], envFrom = [] } = spec?.containers?.find(({ name }) => name === containerName) ?? {};
  return envFrom.length > 0 ? null : new Set(env.map(({ name }) => name));
}

/** Of one of its containers, as the kubelet tells it. */
export function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === container);
}

function terminatedOf(pod: Pod): (Words & { readonly exitCode?: number }) | undefined {
  return statusOf(pod, containerName)?.state?.terminated;
}

/** Whether nothing of it will run any more, by the kubelet's account. */
export function hasEnded(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return terminatedOf(pod) !== undefined || phase === "Failed" || phase === "Succeeded";
}

/** Its end as the cluster saw it; one that was never seen to end says nothing. */
export function stateOf(pod: Pod | null): ContainerState {
  if (pod !== null && !hasEnded(pod)) return { running: true, exitCode: null, oomKilled: null };
  const terminated = pod === null ? undefined : terminatedOf(pod);
  if (terminated === undefined) return { running: false, exitCode: null, oomKilled: null };
  const oomKilled = terminated.reason === "OOMKilled";
  return { running: false, exitCode: terminated.exitCode ?? null, oomKilled };
}

/** Reasons of the kubelet for a container that waits for its image. */
const imageReasons: ReadonlySet<string> = new Set([
  ...["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"],
  ...["ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"],
]);
const setupReasons: ReadonlySet<string> = new Set([
  ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun"],
]);
/** Words of a start that failed because the node's runtime was restarted meanwhile. */
const brokenOff =
  /context (?:canceled|deadline exceeded)|code = Unavailable|connection (?:refused|reset)|error reading from server|ttrpc: closed/;
/** Reasons of a node that took the pod and then had no room. */
const fullReasons = /^(?:OutOf\w+|Evicted|UnexpectedAdmissionError|NodeAffinity|Preempting)$/;

/** Why a container that has not started will not; null: it may yet. */
export function startFailure(
  pod: Pod,
  { image, container }: { readonly image: string; readonly container: string },
): GloveboxError | null {
  const { phase, reason, message, conditions = [] } = pod.status ?? {};
  const context = { engine: engineName };
  const unscheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled?.reason === "Unschedulable") {
    const words = shownWords(unscheduled.message);
    return new GloveboxError("CAPACITY", `Kubernetes has no node with room for the sandbox: ${words}`, { context });
  }
  const { waiting, terminated } = statusOf(pod, container)?.state ?? {};
  const why = waiting ?? terminated;
  if (waiting?.reason === "ErrImageNeverPull")
    return imageUnavailable(image, "it is not on the node, and none may be pulled");
  if (waiting?.reason === "InvalidImageName") return imageUnavailable(image, "Kubernetes does not take its name");
  if (waiting?.reason !== undefined && imageReasons.has(waiting.reason))
    return pullFailed(image, waiting.message ?? "");
  if (why?.reason !== undefined && setupReasons.has(why.reason)) {
    const words = `${why.reason}: ${shownWords(why.message)}`;
    const code = brokenOff.test(words) ? "SANDBOX_LOST" : "UNSUPPORTED";
    return new GloveboxError(code, `Kubernetes cannot start the sandbox: ${words}`, { context });
  }
  if (phase === "Failed" && reason !== undefined && fullReasons.test(reason)) {
    return new GloveboxError("CAPACITY", `The node had no room for the sandbox: ${shownWords(message ?? reason)}`, {
      context,
    });
  }
  if (!hasEnded(pod)) return null;
  const words = shownWords(message ?? terminated?.message ?? terminated?.reason ?? reason);
  return new GloveboxError("SANDBOX_LOST", `The pod ended before the sandbox could be used: ${words}`, { context });
}
