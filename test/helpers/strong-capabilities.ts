import type { Capabilities } from "../../src/engines/capabilities.ts";

/** Of an engine of containers that enforces everything but a limit of the disk. */
export const strongCapabilities: Capabilities = {
  isolation: "container",
  images: true,
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  pidsLimit: "yes",
  scratch: "memory",
  diskLimit: "no",
  hostPaths: true,
  oomReporting: true,
  cpuReporting: true,
  execUser: true,
  execNetwork: "shared",
};
