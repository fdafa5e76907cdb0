import type { Sabotage } from "./sabotage.ts";

const engine = "src/engines/kubernetes/kubernetes-engine.test.ts";

export const clusterSabotages: readonly Sabotage[] = [
  {
    id: "kubernetes: a pod waits for ever for the supervisor's object that somebody deleted",
    file: "src/engines/kubernetes/attach-pod.ts",
    find: "await target.restoreVolumes({ signal });",
    replace: "await Promise.resolve();",
    test: engine,
    name: "makes the supervisor's object again that was deleted while a pod waits for it",
  },
  {
    id: "kubernetes: programs may write to the copies of folders",
    file: "src/engines/kubernetes/pod-manifest.ts",
    find: "({ ...copy, readOnly: true })",
    replace: "({ ...copy, readOnly: false })",
    test: engine,
    name: "gives copies of folders by a container that has ended before anything runs beside them",
  },
  {
    id: "kubernetes: what writes the copies stays beside the sandbox",
    file: "src/engines/kubernetes/folder-copies.ts",
    find: "await channel.close();",
    replace: "await Promise.resolve();",
    test: engine,
    name: "gives copies of folders by a container that has ended before anything runs beside them",
  },
  {
    id: "kubernetes: an owner that was made again is named by its old number",
    file: "src/engines/kubernetes/owner.ts",
    find: "const { uid } = body",
    replace: "const { uid } = (ownerReferences as { known?: { uid: string } }).known ??= body",
    test: engine,
    name: "has all that it makes owned by what the deployment names, as it is now",
  },
  {
    id: "kubernetes: any OCI runtime is taken for a RuntimeClass",
    file: "src/engines/kubernetes/kubernetes-engine.ts",
    find: "if (ociRuntime !== undefined) await this.#assertRuntime(ociRuntime, signal);",
    replace: "void ociRuntime;",
    test: engine,
    name: "takes a RuntimeClass of the cluster for an OCI runtime, and no other one",
  },
  {
    id: "kubernetes: a policy that was deleted is not made again",
    file: "src/engines/kubernetes/network-wall.ts",
    find: "this.#targets = undefined;\n    throw this.#hasHeld",
    replace: "throw this.#hasHeld",
    test: "src/engines/kubernetes/network-wall.test.ts",
    name: "refuses a cluster that does not enforce policies, and makes the policy again for the next sandbox",
  },
  {
    id: "kubernetes: a limit of processes that the kernel does not keep is taken for one",
    file: "src/engines/supervised/channel/hello.ts",
    find: '...(terms.limits === undefined ? [] : (["PROCESS_LIMIT"] as const)),',
    replace: "",
    test: engine,
    name: "runs nothing where the kernel does not keep the limit of processes",
  },
  {
    id: "kubernetes: programs write to the node's disk where an image has volumes",
    file: "src/engines/kubernetes/pod-place.ts",
    find: "if (folders.length > 0) {",
    replace: "if (folders.length > 99) {",
    test: engine,
    name: "runs nothing with folders of the image on the node's disk, and has them covered in the next pod",
  },
  {
    id: "kubernetes: what an admission puts into a pod reaches programs",
    file: "src/engines/kubernetes/pod-terms.ts",
    find: " && !injected.has(name)",
    replace: "",
    test: engine,
    name: "gives programs the image's variables, and none of the cluster's or of an admission's",
  },
];
