import { mountUses } from "./contract/wire-values.ts";
import { judgeHostPath, type MountGate } from "../sandbox/mounts/mount-gate.ts";
import { handle } from "./handler.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountResponse,
  type ListMountsResponse,
} from "./mounts-contract.ts";
import { expandHome } from "../config/host/host-paths.ts";
import { mountRefused } from "../policy/mounts/mount-verdict.ts";
import type { HostMount } from "../workloads/run/host-mount.ts";
import { decodeBase64, type MountNeeds } from "./settle.ts";
import { checkFileCount, type ContextFile } from "../policy/request/context-files.ts";
import {
  openContextFile,
  type ContextFileOptions,
  type OpenContextFile,
} from "../workloads/execute/context-file-reader.ts";
import type { ExecuteRequest } from "./execute-contract.ts";

/** Explains what the mount gate says about a path, for the operator of this machine. */
export const checkMountHandler = handle(
  checkMountContract,
  async (platform: MountNeeds, request): Promise<CheckMountResponse> => {
    const { gate, notices } = await openMountGate(platform);
    const uses = request.use === undefined ? mountUses : [request.use];
    const checks = await Promise.all(
      uses.map(async (use) => {
        await using judged = await judgeHostPath(gate, {
          path: request.path,
          use,
          access: request.access ?? "read-write",
          isMain: request.is_main ?? false,
          target: request.target,
        });
        return { use, verdict: judged.verdict, found: judged.found };
      }),
    );
    const found = checks.find((check) => check.found !== null)?.found ?? null;
    return {
      path: request.path,
      real_path: found?.realPath ?? null,
      kind: found?.kind ?? null,
      verdicts: checks.map(({ use, verdict }) => ({
        use,
        allowed: verdict.allowed,
        read_only: verdict.readOnly,
        rule: verdict.rule,
        root: verdict.root?.path ?? null,
        listed_as: verdict.root?.listedAs ?? null,
        pattern: verdict.pattern,
        target: verdict.target,
        explanation: verdict.explanation,
        what_would_allow: verdict.whatWouldAllow,
      })),
      notices: [...notices],
    };
  },
);

/** The mount policy in force, for the operator of this machine. */
export const listMountsHandler = handle(
  listMountsContract,
  async (platform: MountNeeds): Promise<ListMountsResponse> => {
    const { policy, allowlist, lookedFor, missingRoots, notices } = await platform.loadMountPolicy();
    const rows = [
      ...policy.roots.map((root) => ({ ...root, exists: true })),
      ...missingRoots.map((root) => ({ ...root, path: root.listedPath, exists: false })),
    ];
    return {
      allowlist: allowlist?.path ?? null,
      looked_for: [...lookedFor],
      non_main_read_only: policy.nonMainReadOnly,
      roots: rows.map((root) => ({
        path: root.path,
        source: root.source,
        listed_as: root.listedAs,
        allow_read_write: root.allowReadWrite,
        description: root.description,
        exists: root.exists,
      })),
      blocked_patterns: policy.blockedPatterns.map(({ source, what }) => ({ pattern: source, what })),
      protected_places: policy.protectedPlaces.map(({ path, what }) => ({ path, what })),
      notices: [...notices],
    };
  },
);

/** A folder or file of this machine that is requested in addition to a project. */
export interface WantedMount {
  readonly path: string;
  /** Relative path below `/workspace/extra`; undefined: its own name. */
  readonly target: string | undefined;
  readonly readOnly: boolean;
  /** For errors: the key of the configuration, or the option. */
  readonly shownAs: string;
}

/** What is mounted, held open, and what the caller should know about it. */
interface OpenMounts {
  readonly mounts: readonly HostMount[];
  readonly notices: readonly string[];
}

/**
 * Opens additional mounts, each through the mount gate (SPEC MO5).
 * @param isMain whether the caller may write where the allowlist reserves that for the main group
 * @throws INVALID_REQUEST and POLICY_DENIED naming the mount and the rule; none is left open then
 */
export async function openMounts(
  platform: MountNeeds,
  wanted: readonly WantedMount[],
  isMain: boolean,
): Promise<OpenMounts> {
  if (wanted.length === 0) return { mounts: [], notices: [] };
  const { gate, notices } = await openMountGate(platform);
  const mounts: HostMount[] = [];
  const told = [...notices];
  try {
    for (const { path, target, readOnly, shownAs } of wanted) {
      const given = expandHome(path, platform.host.homeDirectory);
      const access = readOnly ? "read-only" : "read-write";
      const { verdict, place } = await judgeHostPath(gate, { path: given, use: "additional", access, isMain, target });
      if (place === null) throw mountRefused(verdict, shownAs, path);
      mounts.push({ place, target: verdict.target ?? "", readOnly: verdict.readOnly, shownAs });
      if (verdict.readOnly && !readOnly) told.push(`${shownAs}: read-only. ${verdict.explanation}`);
    }
    return { mounts, notices: told };
  } catch (error) {
    await closeMounts(mounts);
    throw error;
  }
}

/** Closes what `openMounts` opened. */
export async function closeMounts(mounts: readonly HostMount[]): Promise<void> {
  for (const { place } of mounts) await place[Symbol.asyncDispose]();
}

/** The gate that checks every host path of a request, with what the operator should know about it. */
interface OpenMountGate {
  readonly gate: MountGate;
  readonly notices: readonly string[];
}

/** The gate with the current policy. @throws INVALID_REQUEST for a bad mount allowlist */
export async function openMountGate({ host, ...platform }: MountNeeds): Promise<OpenMountGate> {
  const { policy, notices } = await platform.loadMountPolicy();
  return { gate: { policy, platform: host.platform, workingDirectory: host.workingDirectory }, notices };
}

/**
 * The context files of a request; those given by path, opened through the mount gate, stay open until this is disposed.
 */
interface OpenContextFiles extends AsyncDisposable {
  readonly contextFiles: readonly ContextFile[];
  /** Warnings of the gate. */
  readonly notices: readonly string[];
}

/** Opens the context files of a request. `field`: the list's name in errors. @throws what `openContextFile` throws */
export async function openContextFiles(
  platform: MountNeeds,
  files: NonNullable<ExecuteRequest["context_files"]>,
  { field, inMemory }: ContextFileOptions = { field: "context_files" },
): Promise<OpenContextFiles> {
  checkFileCount(files.length, field);
  const isNamed = files.some((file) => typeof file === "string");
  const { gate, notices } = isNamed ? await openMountGate(platform) : { gate: null, notices: [] };
  const opening = files.map(async (file, index): Promise<ContextFile | OpenContextFile> => {
    if (typeof file !== "string") {
      return {
        path: file.path,
        content: file.encoding === "base64" ? decodeBase64(file.content, `${field}[${index}].content`) : file.content,
      };
    }
    if (gate === null) throw new TypeError("A file given by path needs the gate.");
    return openContextFile(file, gate, { field: `${field}[${index}]`, inMemory });
  });
  const close = async (): Promise<void> => {
    const settled = await Promise.allSettled(opening);
    const opened = settled.flatMap((file) => (file.status === "fulfilled" ? [file.value] : []));
    await Promise.all(opened.map(async (file) => Symbol.asyncDispose in file && file[Symbol.asyncDispose]()));
  };
  try {
    return { contextFiles: await Promise.all(opening), notices, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
