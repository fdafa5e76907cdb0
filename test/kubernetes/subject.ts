import { randomInt } from "node:crypto";
import { mebibyte } from "../../src/base/bytes.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { farUids } from "../../src/engines/container-users.ts";
import { KubernetesEngine } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";
import type { Subject } from "../engine-contract/subject.ts";
import { subjects } from "../engine-contract/subjects.ts";
import { clusterEnvironment } from "./cluster-environment.ts";
import { imageOnNode } from "./node-image.ts";

async function openCluster(): Promise<Engine> {
  const environment = clusterEnvironment();
  const settings = readSettings(environment, process.arch);
  return guardEngine(
    new KubernetesEngine({
      settings,
      environment,
      prebuiltOnly: false,
      now: Date.now,
      monotonicMs: () => performance.now(),
      randomInteger: randomInt,
    }),
  );
}

/** A real cluster. */
export const kubernetesSubject: Subject = {
  name: "kubernetes",
  requirement: "kubernetes",
  ownUsers: farUids,
  patience: 3,
  // Less than the memory of any sandbox of the suite, which bounds each file.
  maxSparseBytes: 30 * mebibyte,
  make: openCluster,
  bringImage: async (reference, context) => imageOnNode(reference, context),
  images: subjects.docker.images,
  environmentNames: ["PATH", "HOME", "HOSTNAME"],
  mustDeclare: {
    ...subjects.docker.mustDeclare,
    hostPaths: false,
    supervisor: "shared",
    seccomp: "yes",
    setuidRefusal: "yes",
    noNetwork: { substitute: "what the deployment accepts: the cluster's network" },
    memoryLimit: {
      substitute: "the pod's limit, which leaves out what sockets hold on nodes with control groups of version 1",
    },
    pidsLimit: {
      substitute: "a limit for the user of its programs (rlimit), which no other pod of the server has",
    },
    diskLimit: "no",
    execUser: false,
  },
  exceptions: {
    "images.has": "nodes do not tell what they have: an image is there once a pod of this server has had it",
    "images.create-missing": "a missing image is told of when the pod starts",
    "images.pull": "nodes remove their images themselves",
    "mounts.identity": "folders of the server's machine do not reach pods",
    "scratch.inodes":
      "the number of files in a memory volume cannot be limited: the memory limit stops a flood of empty ones (about 1 KB each)",
    "network.interfaces": "the deployment of these tests accepts the cluster's network",
    "network.unreachable": "the deployment of these tests accepts the cluster's network",
    "user-shares.pressure": "no field of a pod covers /proc/pressure",
    "limits.sockets": "control groups of version 1 leave out what sockets hold",
    "listing.states": "a pod is listed as running from its creation on: its first process waits for the server",
  },
  untried: {},
};
