import type { Capabilities, Enforcement } from "../capabilities.ts";

const boundary: Enforcement = { substitute: "the boundary of a virtual machine" };

/** What Apple's containers enforce: each is a virtual machine with a kernel of its own, whose limits the service sets. */
export const appleCapabilities: Capabilities = {
  isolation: "vm",
  images: true,
  hostPaths: true,
  // The command has no option for either.
  seccomp: boundary,
  noNewPrivileges: boundary,
  setuidRefusal: { substitute: "a watch over the project that clears the bits and alerts" },
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  // There is no limit for a container as a whole; this one does not apply to root.
  pidsLimit: { substitute: "`--ulimit nproc` for each user inside a virtual machine" },
  scratch: "memoryOrDisk",
  // The root is a sparse disk of 512 GB, and the command does not report its use.
  diskLimit: "no",
  // Counted inside by the keeper: the command does not report them.
  oomReporting: true,
  cpuReporting: true,
  execUser: true,
  execKill: true,
  execNetwork: "shared",
};
