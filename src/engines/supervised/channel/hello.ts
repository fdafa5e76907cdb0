import { parseMountTable, type MountEntry } from "../../../base/mount-table.ts";
import type { SyscallArchitecture } from "../../../policy/seccomp/syscalls.ts";
import { factBits, frameLimits, protocolVersion, setupFlags } from "../frames/frame-table.ts";
import { ProtocolError, type FrameFields } from "../frames/frame.ts";
import type { WindowSizes } from "./channel-output.ts";

/** `apart`: programs are another user than pid 1 and can regain nothing of it; `shared`: they are the same. */
export type SupervisorMode = "apart" | "shared";

/** A system call that is tried under the filter, and how the filter must refuse it. */
export interface Probe {
  readonly call: number;
  /** The errno that only the filter gives. */
  readonly errno: number;
}

/** What the supervisor of one sandbox is told, and what it must be. */
export interface SupervisorTerms {
  /** Hash of the program that was shipped, as it reports it. */
  readonly build: string;
  readonly mode: SupervisorMode;
  readonly architecture: SyscallArchitecture;
  /** Who pid 1 becomes, with the capabilities that it has; null: it stays who it is. */
  readonly becomes: UserAndGroup | null;
  /** Who pid 1 must be after that. */
  readonly own: UserAndGroup;
  /** Exactly the capabilities that pid 1 must have. */
  readonly capabilities: bigint;
  /** Who programs are: the probes are made as them. */
  readonly programs: UserAndGroup;
  /** Group numbers that nothing else has, one for each program at once; null: daemons stay below their wardens. */
  readonly tags: { readonly first: number; readonly count: number } | null;
  /** BPF program for each program, from `spawnFilter`. */
  readonly filter: Uint8Array;
  readonly probes: readonly [Probe, Probe, Probe];
  /** Facts that it must have. */
  readonly facts: readonly (keyof typeof factBits)[];
  /** Limits of each program, where the engine sets none; no higher than the supervisor's own. Left out: as the engine has them. */
  readonly limits?: ProgramLimits | undefined;
  /** Whether it is to tell its start's variables and its mounts, where the engine does not. Default false. */
  readonly tellsStart?: boolean | undefined;
}

/** What one program, or all of its user, may have. */
export interface ProgramLimits {
  /** Processes and threads of its user, with those of the supervisor if it has the same one. */
  readonly processes: number;
  readonly openFiles: number;
  /** Pending signals, bytes of POSIX queues and of locked memory, as `userLimits` has them. */
  readonly signals: number;
  readonly queueBytes: number;
  readonly lockedBytes: number;
  /** Of each file that it makes or grows, also in memory. */
  readonly fileBytes: number;
}

export interface UserAndGroup {
  readonly user: number;
  readonly group: number;
}

/** What the supervisor found where it is. */
export interface SupervisorFacts {
  readonly mode: SupervisorMode;
  /** Version of the control groups that it sees; 0: none. */
  readonly cgroup: number;
  readonly facts: ReadonlySet<keyof typeof factBits>;
  readonly processors: number;
}

/** How a sandbox was started, as far as its supervisor tells it; null: it is longer than a frame takes, or cannot be read. */
export interface ToldStart {
  /** Each `NAME=VALUE`; they may be anything that an image has. */
  readonly variables: readonly string[] | null;
  readonly mounts: readonly MountEntry[] | null;
}

/** @throws ProtocolError */
export function readToldVariables({ bytes, tail }: FrameFields<"VARIABLES">): ToldStart["variables"] {
  const text = toldText("VARIABLES", bytes, tail);
  if (text === null || text === "") return text === null ? null : [];
  if (!text.endsWith("\0")) throw new ProtocolError("VARIABLES without their last NUL");
  return text.slice(0, -1).split("\0");
}

/** @throws ProtocolError */
export function readToldMounts({ bytes, tail }: FrameFields<"MOUNTS">): ToldStart["mounts"] {
  const text = toldText("MOUNTS", bytes, tail);
  return text === null || text === "" ? null : parseMountTable(text);
}

function toldText(name: string, bytes: number, tail: Uint8Array): string | null {
  const isLong = bytes > frameLimits.maxStartBytes;
  if (tail.length !== (isLong ? 0 : bytes)) throw new ProtocolError(`${name} with ${tail.length} of ${bytes} bytes`);
  return isLong ? null : Buffer.from(tail).toString("utf8");
}

const unchanged = 0xffff_ffff;

/** Fields of the first frame. */
export function setupFields(
  terms: SupervisorTerms,
  { streamBytes, totalBytes }: WindowSizes,
  silenceMs: number,
): FrameFields<"SETUP"> {
  const { becomes, programs, tags, probes, filter, limits } = terms;
  return {
    version: protocolVersion,
    ownUser: becomes?.user ?? unchanged,
    ownGroup: becomes?.group ?? unchanged,
    firstTag: tags?.first ?? 0,
    tagCount: tags?.count ?? 0,
    silenceMs,
    streamWindow: streamBytes,
    totalWindow: totalBytes,
    probe1: probes[0].call,
    probe2: probes[1].call,
    probe3: probes[2].call,
    probeUser: programs.user,
    probeGroup: programs.group,
    flags: terms.tellsStart === true ? setupFlags.VARIABLES | setupFlags.MOUNTS : 0,
    processes: limits?.processes ?? 0,
    openFiles: limits?.openFiles ?? 0,
    signals: limits?.signals ?? 0,
    queueBytes: limits?.queueBytes ?? 0,
    lockedBytes: limits?.lockedBytes ?? 0,
    fileBytes: BigInt(limits?.fileBytes ?? 0),
    tail: filter,
  };
}

const modes: Readonly<Record<SupervisorMode, number>> = { apart: 1, shared: 2 };
const architectures: Readonly<Record<SyscallArchitecture, number>> = { x64: 1, arm64: 2 };

/** What is wrong with a supervisor's introduction, as the first thing that differs; null when it is what it must be. */
export function helloFault(hello: FrameFields<"HELLO">, terms: SupervisorTerms): string | null {
  const build = Buffer.from(hello.tail).toString("latin1");
  const expected: readonly (readonly [what: string, got: unknown, expected: unknown])[] = [
    ["protocol version", hello.version, protocolVersion],
    ["build", build.length > maxShownBuild ? `${build.slice(0, maxShownBuild)}…` : build, terms.build],
    ["mode", hello.mode, modes[terms.mode]],
    ["architecture", hello.architecture, architectures[terms.architecture]],
    ["user", hello.user, terms.own.user],
    ["group", hello.group, terms.own.group],
    ["capabilities", hello.capabilities, terms.capabilities],
    ["answer to probe 1", hello.probe1, terms.probes[0].errno],
    ["answer to probe 2", hello.probe2, terms.probes[1].errno],
    ["answer to probe 3", hello.probe3, terms.probes[2].errno],
    ["capabilities of programs", hello.probeCapabilities, 0n],
    ["version of control groups", hello.cgroup <= maxCgroup, true],
    ["known facts", (hello.facts & ~allFacts) === 0, true],
    ["missing facts", missingFacts(hello.facts, terms).join(), ""],
  ];
  const wrong = expected.find(([, got, value]) => got !== value);
  if (wrong === undefined) return null;
  const [what, got, value] = wrong;
  return `${what}: expected ${JSON.stringify(String(value))}, got ${JSON.stringify(String(got))}`;
}

const maxShownBuild = 80;
const maxCgroup = 2;
const allFacts = Object.values(factBits).reduce((sum: number, bit) => sum | bit, 0);

/** What the supervisor found; only for one that was judged. */
export function supervisorFacts(hello: FrameFields<"HELLO">, { mode }: SupervisorTerms): SupervisorFacts {
  const names = Object.keys(factBits) as (keyof typeof factBits)[];
  const facts = new Set(names.filter((name) => (hello.facts & factBits[name]) !== 0));
  return { mode, cgroup: hello.cgroup, facts, processors: hello.processors };
}

function missingFacts(facts: number, terms: SupervisorTerms): readonly string[] {
  const needed: readonly (keyof typeof factBits)[] = [
    ...terms.facts,
    ...(terms.filter.length > 0 ? (["FILTER"] as const) : []),
    // A limit that the kernel takes and does not keep is none.
    ...(terms.limits === undefined ? [] : (["PROCESS_LIMIT"] as const)),
  ];
  return needed.filter((name) => (facts & factBits[name]) === 0);
}
