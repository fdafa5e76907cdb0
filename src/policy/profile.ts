import type { Isolation } from "./isolation.ts";
import type { LimitKind, Limits } from "./limits.ts";
import type { NetworkPolicy } from "./network/network.ts";
import { divideScratch, temporaryFolder, workFolder, type ScratchDivision, type ScratchStorage } from "./scratch.ts";

/** What a sandbox is given, decided before any engine is asked for it; the sandbox layer makes a container's spec of it. */
export interface Profile {
  readonly kind: LimitKind;
  readonly image: string;
  /** OCI runtime that was asked for; left out: the engine's own. */
  readonly ociRuntime?: string | undefined;
  readonly limits: Limits;
  readonly scratch: ScratchDivision;
  /** For the programs' own processes only, never for a process of ours in the same container. */
  readonly environment: Readonly<Record<string, string>>;
  /** `uid:gid` of programs: never root (SPEC SC1). */
  readonly processUser: string;
  readonly workingDirectory: string;
  readonly network: NetworkPolicy;
  /** The weakest isolation that is accepted. */
  readonly minIsolation: Isolation;
}

/** What differs from one one-shot run to another, all of it checked already. */
export interface ExecuteProfileOptions {
  readonly image: string;
  readonly ociRuntime?: string | undefined;
  readonly limits: Limits;
  /** `uid:gid` of its programs; default `programUser`. */
  readonly processUser?: string | undefined;
  readonly scratchStorage: ScratchStorage;
  readonly minIsolation: Isolation;
  readonly network: NetworkPolicy;
  /** Variables that its network needs; those of the host and of the request win. */
  readonly networkEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables by which its packages are found; of a search path they are the first part, which leads to them and no more. */
  readonly packageEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables on the deployment's allowlist, with the host's values (SPEC EN1). */
  readonly hostEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables of the request; they win. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/**
 * `uid:gid` of programs that write to no folder of the host, on each engine: nobody's on the host, so that what the kernel
 * counts for each user (watches, pending signals, pages of pipes, descriptors on their way, queues) is not taken from a
 * person or a service. 1000 would be the first person of most machines.
 *
 * Below 65536, as far as user namespaces without root map users; above the ranges of accounts, of services (to 999), of
 * containers and of services made on demand (61184 to 65519), in one that systemd and distributions leave unused (65520
 * to 65533), and not the number that ready-made images without a user use there (65532).
 */
export const programUser = "65527:65527";

/**
 * `uid:gid` of what is ours beside a sandbox's programs, such as the file of certificates: used by nothing else, so that no
 * program can change, end or inspect it, and killing a program user's processes does not reach it.
 */
export const helperUser = "63128:63128";

/** The profile of a one-shot run (SPEC EX2). */
export function executeProfile(options: ExecuteProfileOptions): Profile {
  const { image, ociRuntime, limits, scratchStorage, minIsolation, network } = options;
  const { networkEnvironment = {}, packageEnvironment = {}, hostEnvironment = {}, environment = {} } = options;
  const given = { ...hostEnvironment, ...environment };
  const paths = Object.entries(packageEnvironment).map(
    ([name, value]) => [name, joinPaths(value, given[name])] as const,
  );
  return {
    kind: "execute",
    image,
    ...(ociRuntime === undefined ? {} : { ociRuntime }),
    limits,
    scratch: divideScratch(limits, scratchStorage),
    environment: {
      ...{ HOME: temporaryFolder, LANG: "C.UTF-8" },
      ...networkEnvironment,
      ...given,
      ...Object.fromEntries(paths),
    },
    processUser: options.processUser ?? programUser,
    workingDirectory: workFolder,
    network,
    minIsolation,
  };
}

function joinPaths(ours: string, own: string | undefined): string {
  return own === undefined || own === "" ? ours : `${ours}:${own}`;
}
