import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import type { SupervisorTerms, UserAndGroup } from "../supervised/channel/hello.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";

/** What the supervisor of a pod must be: the user of its programs, without any capability. */
export function podTerms({ architecture, build }: SupervisorBinary, user: UserAndGroup): SupervisorTerms {
  const { program, probes } = spawnFilter(architecture, { setuidBits: false });
  return {
    ...{ build, architecture, mode: "shared", becomes: null, own: user, programs: user },
    ...{ capabilities: 0n, tags: null, filter: program, probes },
    // Without it the kernel is gVisor's, in which a program of this user could forge what the supervisor says.
    facts: ["SUBREAPER"],
  };
}
