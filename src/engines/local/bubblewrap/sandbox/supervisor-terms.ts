import { spawnFilter } from "../../../../policy/seccomp/spawn-filter.ts";
import type { SupervisorTerms } from "../../../supervised/channel/hello.ts";
import type { SupervisorBinary } from "../../../supervised/supervisor-binary.ts";
import type { SandboxUser } from "../../local-spec.ts";

/** KILL, SETGID and SETUID, as bits by their numbers in Linux; SETPCAP and NET_BIND_SERVICE it has given up by then. */
const three = (1n << 5n) | (1n << 6n) | (1n << 7n);

export interface TermsOptions {
  readonly supervisor: SupervisorBinary;
  readonly programs: SandboxUser;
  /** Whether programs are another user than the supervisor. */
  readonly isApart: boolean;
}

/** What the supervisor of a sandbox must be here. */
export function supervisorTerms({ supervisor, programs, isApart }: TermsOptions): SupervisorTerms {
  const { architecture, build } = supervisor;
  const user = { user: programs.uid, group: programs.gid };
  const { program, probes } = spawnFilter(architecture);
  return {
    build,
    architecture,
    mode: isApart ? "apart" : "shared",
    becomes: null,
    own: isApart ? { user: 0, group: 0 } : user,
    capabilities: isApart ? three : 0n,
    programs: user,
    tags: null,
    filter: program,
    probes,
    facts: ["SUBREAPER"],
  };
}
