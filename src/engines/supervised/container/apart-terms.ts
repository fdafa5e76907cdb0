import type { SpawnFilter } from "../../../policy/seccomp/spawn-filter.ts";
import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec, RootCapability } from "../../container-spec.ts";
import type { SupervisorTerms } from "../channel/hello.ts";
import type { SupervisorBinary } from "../supervisor-binary.ts";
import { parseUser } from "./program-request.ts";

/** Linux's numbers. */
const capabilityNumbers = {
  CHOWN: 0n,
  DAC_OVERRIDE: 1n,
  FOWNER: 3n,
  KILL: 5n,
  SETGID: 6n,
  SETUID: 7n,
} as const satisfies Readonly<Record<RootCapability | "KILL", bigint>>;

/** What a supervisor needs to give programs another user and to end them. */
const kept = ["SETUID", "SETGID", "KILL"] as const;

/** What it needs at its start only: it empties the bounding set, which its programs have, and gives this up itself. */
const first = "SETPCAP";

/** User and group of a supervisor where nobody else counts for its user. */
export const usualSupervisor = 65_533;

/** Its own, and those of programs that are root, which it gives to them. */
function keptCapabilities({ rootCapabilities = [] }: ContainerSpec): readonly (keyof typeof capabilityNumbers)[] {
  return [...new Set([...kept, ...rootCapabilities])];
}

/** What a container of the spec must give to its first process, which begins as root. */
export function supervisorCapabilities(spec: ContainerSpec): readonly string[] {
  return [first, ...keptCapabilities(spec)];
}

export interface ApartCircumstances {
  readonly binary: Pick<SupervisorBinary, "architecture" | "build">;
  readonly filter: SpawnFilter;
  /** User and group that it becomes after its start as root. */
  readonly own: number;
}

/** What the supervisor of a container is told, and what it must be, where programs are another user than it. */
export function apartTerms(
  spec: ContainerSpec,
  { binary: { architecture, build }, filter: { program, probes }, own }: ApartCircumstances,
): SupervisorTerms {
  return {
    build,
    mode: "apart",
    architecture,
    // Not root: then it owns none of the folders that it opens to programs, and a helper as root can.
    becomes: { user: own, group: own },
    own: { user: own, group: own },
    capabilities: keptCapabilities(spec).reduce((set, name) => set | (1n << capabilityNumbers[name]), 0n),
    programs: parseUser(spec.processUser ?? programUser),
    tags: null,
    filter: program,
    probes,
    facts: ["SUBREAPER"],
  };
}
