import { guardEngine } from "../../src/engines/guarded-engine.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { AppleCli } from "../apple-cli/install.ts";
import { subjects } from "./subjects.ts";
import type { Subject } from "./subject.ts";

let installed: Promise<AppleCli> | undefined;

/** The stand-in for the `container` command, which all engines of this process share. */
function standIn(): Promise<AppleCli> {
  installed ??= import("../apple-cli/install.ts").then(({ installAppleCli }) => installAppleCli());
  return installed;
}

/** Removes it and everything that it made. */
export async function removeStandIn(): Promise<void> {
  await (await installed)?.remove();
  installed = undefined;
}

async function apple(): Promise<Engine> {
  const docker = await subjects.docker.make();
  // Docker's own answer says why nothing can be tested.
  if (!(await docker.probe()).available) return docker;
  await docker.close();
  const { binFolder } = await standIn();
  const { AppleEngine } = await import("../../src/engines/apple/apple-engine.ts");
  const environment = { ...process.env, PATH: `${binFolder}:${process.env["PATH"]}` } as Record<string, string>;
  return guardEngine(new AppleEngine({ environment, architecture: process.arch }));
}

/** Apple's `container` command, replaced by our stand-in, which runs its programs on Docker. */
const ownMachine =
  "the stand-in's containers share a kernel; those of the real command have a virtual machine each, whose kernel counts for it alone";

export const appleSubject: Subject = {
  name: "apple",
  requirement: "docker",
  make: apple,
  removeImage: async (reference) => {
    await (await standIn()).call(["image", "delete", "--force", reference]);
  },
  images: subjects.docker.images,
  environmentNames: ["PATH", "HOME", "HOSTNAME"],
  smallMemoryMb: 256,
  patience: 3,
  mustDeclare: {
    ...subjects.docker.mustDeclare,
    isolation: "vm",
    pidsLimit: { substitute: "`--ulimit nproc` for each user inside a virtual machine" },
    diskLimit: "no",
    scratch: "memoryOrDisk",
  },
  exceptions: {
    "privileges.first-process-filter": "the command takes no profile: the first process is alone in its kernel",
    "connect.ipv6": "Docker, which runs the stand-in, disables IPv6 in containers without a network",
    "scratch.inodes":
      "the number of files in a tmpfs cannot be limited: the memory limit stops a flood of empty ones (about 1 KB each)",
    "mounts.identity":
      "mounts are not visible from the host: a project inside a folder that another sandbox can write to is refused",
    "limits.cpu": "only whole CPUs: fractions are refused",
    "limits.sockets": ownMachine,
    "user-shares.watch": ownMachine,
    "user-shares.queue": ownMachine,
    "user-shares.descriptor": ownMachine,
    "user-shares.pipe": ownMachine,
    "user-shares.lock": ownMachine,
    "user-shares.owner": ownMachine,
    "user-shares.pressure": ownMachine,
    "user-shares.limits": ownMachine,
  },
  untried: {},
};
