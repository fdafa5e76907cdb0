import { guardEngine } from "../../src/engines/guarded-engine.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { AppleCli } from "../apple-cli/install.ts";
import { ownUser, subjects } from "./subjects.ts";
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

const noFilter = "our filter is not used there: a watch over the project clears the bits";
const noOption = "the command has no option for it";
const noTraceFilter =
  "programs can trace others of their own user in the same container, but not those of other users or ours";
const noOomFlag =
  "the service does not report out-of-memory kills; the keeper counts them, but a container's own command has no keeper";

/** Apple's `container` command, replaced by our stand-in, which runs its programs on Docker. */
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
    seccomp: { substitute: "the boundary of a virtual machine" },
    noNewPrivileges: { substitute: "the boundary of a virtual machine" },
    setuidRefusal: { substitute: "a watch over the project that clears the bits and alerts" },
    pidsLimit: { substitute: "`--ulimit nproc` for each user inside a virtual machine" },
    diskLimit: "no",
    scratch: "memoryOrDisk",
  },
  exceptions: {
    "connect.ipv6": "Docker, which runs the stand-in, disables IPv6 in containers without a network",
    "privileges.no-new-privileges": noOption,
    "privileges.seccomp": noOption,
    "privileges.seccomp-denies": noOption,
    "privileges.setuid-bits": noFilter,
    "privileges.setuid-bits-as-root": noFilter,
    "scratch.inodes":
      "the number of files in a tmpfs cannot be limited: the memory limit stops a flood of empty ones (about 1 KB each)",
    "mounts.no-setuid": "the command is asked to mount nosuid, which Docker, which runs the stand-in, cannot",
    "mounts.identity":
      "mounts are not visible from the host: a project inside a folder that another sandbox can write to is refused",
    "cohabitant.traces": noTraceFilter,
    "stopped-helpers.opened": ownUser,
    "memory.main": noOomFlag,
    "memory.main-not-oom": noOomFlag,
    "limits.cpu": "only whole CPUs: fractions are refused",
  },
  untried: { "cohabitant.traces": "it depends on timing" },
};
