import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import { apartTerms, usualSupervisor } from "../supervised/container/apart-terms.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";

/** What the supervisor of a container is told, and what it must be. The engine filters nothing. */
export function supervisorTerms(
  spec: ContainerSpec,
  binary: Pick<SupervisorBinary, "architecture" | "build">,
): SupervisorTerms {
  const filter = spawnFilter(binary.architecture, { setuidBits: spec.rootCapabilities !== undefined });
  return apartTerms(spec, { binary, filter, own: usualSupervisor });
}
