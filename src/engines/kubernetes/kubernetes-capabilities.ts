import type { Capabilities } from "../capabilities.ts";

const sharedNote =
  "Programs on Kubernetes have the user of the process that watches over them: one can end others of its own sandbox, whose calls then say that the sandbox was lost.";

/** What every result says where a deployment accepts the cluster's network by name. */
const networkNote =
  "The deployment accepts that sandboxes on Kubernetes have the cluster's network: programs can reach whatever its policies let pods reach.";

/** What a pod of the profile `restricted` enforces. */
export function kubernetesCapabilities({ acceptsNetwork }: { readonly acceptsNetwork: boolean }): Capabilities {
  return {
    isolation: "container",
    images: true,
    hostPaths: false,
    supervisor: "shared",
    notes: acceptsNetwork ? [sharedNote, networkNote] : [sharedNote],
    seccomp: "yes",
    noNewPrivileges: "yes",
    setuidRefusal: "yes",
    readOnlyRoot: "yes",
    noNetwork: {
      substitute: acceptsNetwork
        ? "what the deployment accepts: the cluster's network"
        : "a network policy, whose effect is shown from inside each sandbox before its programs run",
    },
    // Seen with control groups of version 1: 802 MB beyond a limit of 96 MB.
    memoryLimit: {
      substitute: "the pod's limit, which leaves out what sockets hold on nodes with control groups of version 1",
    },
    cpuLimit: "yes",
    pidsLimit: {
      substitute: "a limit for the user of its programs (rlimit), which no other pod of the server has",
    },
    scratch: "memory",
    diskLimit: "no",
    oomReporting: true,
    cpuReporting: true,
    execUser: false,
    execNetwork: "shared",
  };
}
