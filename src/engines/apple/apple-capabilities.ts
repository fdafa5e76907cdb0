import type { Capabilities } from "../capabilities.ts";

/** What Apple's containers enforce: each is a virtual machine with a kernel of its own, whose limits the service sets. */
export const appleCapabilities: Capabilities = {
  isolation: "vm",
  images: true,
  hostPaths: true,
  // The command has no option for any of the three: the supervisor sees to them, in each program.
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  // There is no limit for a container as a whole; this one does not apply to root.
  pidsLimit: { substitute: "`--ulimit nproc` for each user inside a virtual machine" },
  scratch: "memoryOrDisk",
  // The root is a sparse disk of 512 GB, and the command does not report its use.
  diskLimit: "no",
  // Counted inside by the supervisor: the command does not report them.
  oomReporting: true,
  cpuReporting: true,
  supervisor: "apart",
  execUser: true,
  execNetwork: "shared",
};
