import type { Isolation } from "../policy/isolation.ts";
import { GloveboxError, type GloveboxErrorOptions } from "../errors/glovebox-error.ts";
import type { RuntimeName } from "../languages/language-table.ts";
import { cancelled, throwIfCancelled } from "../base/abort.ts";
import type { Engine, Process } from "../engines/engine.ts";
import type { Limits } from "../policy/limits.ts";
import { wheelsOnlyMark, packageName, type Ecosystem } from "../policy/install-policy.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { installerPlan } from "./find-installer.ts";
import type { MinAge } from "./min-age.ts";
import { packCommand, type PackageManager } from "./package-manager.ts";
import { diskBytesOf, layOutPythonSet } from "./set-folder.ts";
import { unpack, type Unpacked } from "./unpack.ts";
import { BoundedOutput } from "../base/streams/collected-bytes.ts";
import { kibibyte } from "../base/bytes.ts";

/** The error of packages that cannot be installed; `reason` is one line. */
export function installFailed(
  packages: readonly string[],
  reason: string,
  options: GloveboxErrorOptions = {},
): GloveboxError {
  return new GloveboxError("PACKAGE_INSTALL_FAILED", `Installing ${packages.join(", ")} failed: ${reason}.`, {
    ...options,
    context: { packages, reason, ...options.context },
  });
}

/** The refusal where nothing keeps an installer from the host. */
export function refusedOnHost(specs: readonly string[], isolation: Isolation): GloveboxError {
  return installFailed(specs, "at isolation preload nothing keeps an installer from the host", {
    suggestion:
      "Use a container engine or a system with namespaces (`glovebox doctor` tells what is missing). The operator of this machine may allow it here too, without install scripts: `packages.install_at_preload` (`GLOVEBOX_PACKAGES_INSTALL_AT_PRELOAD=true`).",
    context: { isolation, setting: "packages.install_at_preload" },
  });
}

export interface Installation {
  readonly engine: Engine;
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly interpreter: RuntimeName;
  readonly manager: PackageManager;
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  /** Null: versions of any age. */
  readonly minAge: MinAge | null;
  /** Receives what the caller should know about the installation, for people. */
  readonly onNote: (message: string) => void;
  /** Empty; gets what was installed, as `packageFolders` has it. */
  readonly folder: string;
}

/** Runs the installing tool in the sandbox, which has the registries until it ends. @throws PACKAGE_INSTALL_FAILED */
export type RunTool = (installation: Installation, sandbox: Sandbox, signal: AbortSignal) => Promise<void>;

interface InstallDependencies {
  /** The installers' sandboxes, which take no run's slot. */
  readonly sandboxes: Sandboxes;
  readonly limits: Limits;
  readonly runTool: RunTool;
}

/** What a set may have at most: files and folders, and names of a path (those of real packages have 20). */
export const setBounds = { maxEntries: 200_000, maxDepth: 64 };
/** What a set has of its own: its folders, its record, and what leads Python to it. */
const ownEntries = 6;
/** Room on the disk that those take, in bytes. */
export const ownBytes = ownEntries * diskBytesOf(0);

/**
 * Installs packages in a place of their own, a sandbox wherever there is one (SPEC PK6). What was installed comes out as
 * a stream of files.
 * @throws PACKAGE_INSTALL_FAILED naming the packages and the reason, CANCELLED, and what opening a sandbox throws
 */
export async function install(
  installation: Installation,
  { sandboxes, limits, runTool }: InstallDependencies,
  caller: Caller,
): Promise<Unpacked> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([late, ...(caller.signal ? [caller.signal] : [])]);
  try {
    const plan = installerPlan(installation, limits);
    await using sandbox = await sandboxes.open(installation.engine, plan, { ...caller, signal });
    // Everything in it ends with it, and so do we.
    const onAbort = (): void => void sandbox.remove().catch(() => undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      throwIfCancelled(signal);
      await runTool(installation, sandbox, signal);
      return await unpackFrom(installation, sandbox, limits);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  } catch (error) {
    if (caller.signal?.aborted) throw cancelled(error);
    if (!late.aborted) throw error;
    throw installFailed(installation.specs, `it took longer than ${limits.timeoutMs / 1000} s`, { cause: error });
  }
}

/** How an installing tool ended, and all that it wrote, as far as it is kept. */
interface ToolResult {
  readonly exitCode: number | null;
  readonly output: string;
}

const maxOutputBytes = 64 * kibibyte;

/** Reads the tool to its end. */
export async function toolResult(process: Process): Promise<ToolResult> {
  const kept = { stdout: new BoundedOutput(maxOutputBytes), stderr: new BoundedOutput(maxOutputBytes) };
  for await (const { stream, bytes } of process.output) kept[stream].append(bytes);
  const { exitCode } = await process.exit;
  return { exitCode, output: `${kept.stderr.text()}\n${kept.stdout.text()}` };
}

interface FailureNotes {
  /** What else there is to say, a few words each. */
  readonly also: readonly string[];
  /** What would allow what was refused to it on its way. */
  readonly remedy?: string | undefined;
}

/** The error of a tool that failed. */
export function toolFailed(installation: Installation, result: ToolResult, notes: FailureNotes): GloveboxError {
  const { specs, minAge } = installation;
  const { packages, reason } = explainInstallFailure({ ...installation, ...result });
  const words = [reason, ...notes.also].join("; ");
  if (notes.remedy !== undefined) return installFailed(packages, words, { suggestion: notes.remedy });
  if (cannotReachRegistry(result.output)) {
    return installFailed(specs, `the package registry could not be reached (${words})`, {
      suggestion:
        "Nothing is wrong with the packages' names. Try again later, or have the operator look at the registry that npm and pip of the machine are set up for.",
      context: { retryable: true },
    });
  }
  if (minAge !== null && findsNoVersion(result.output)) {
    const hours = Math.round(minAge.ms / 360_000) / 10;
    return installFailed(packages, words, {
      suggestion: `Check the package's name and version. One published less than ${hours} hours ago is not taken: packages.min_age (GLOVEBOX_PACKAGES_MIN_AGE) is the operator's.`,
      context: { setting: "packages.min_age" },
    });
  }
  return installFailed(packages, words);
}

/** What went wrong with which packages. */
export interface InstallFailure {
  /** Of those that were asked for; all of them when the tool does not say which. */
  readonly packages: readonly string[];
  /** The tool's own words, in one line. */
  readonly reason: string;
}

interface InstallFailureFacts {
  readonly manager: PackageManager;
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  /** All that the tool wrote. */
  readonly output: string;
  readonly exitCode: number | null;
}

/** Lines that tell what went wrong, and what stands before the words. */
const errorLines: Readonly<Record<PackageManager, RegExp>> = {
  bun: /^error: (.*)$/,
  npm: /^npm (?:error|ERR!)(?! code | A complete log|.* Note that |.* tarball, folder)(?: (?:404|notarget|network))? +([A-Za-z].*)$/,
  pip: /^ERROR: (.*)$/,
};
const maxLines = 3;
const maxCharacters = 500;

/** Why an installation failed, from its tool's output. */
export function explainInstallFailure(facts: InstallFailureFacts): InstallFailure {
  const { manager, ecosystem, specs, output, exitCode } = facts;
  const told = output.split(/\r?\n/).map(plain);
  const lines = notWheel(told) ?? told.flatMap((line) => errorLines[manager].exec(line)?.[1]?.trim() ?? []);
  const words = lines
    .slice(0, maxLines)
    .map((line) => line.replace(/\.$/, ""))
    .join("; ")
    .slice(0, maxCharacters);
  const text = words.toLowerCase().replaceAll("%2f", "/");
  const named = specs.filter((spec) => mentions(text, packageName(spec, ecosystem)));
  return {
    packages: named.length > 0 ? named : specs,
    reason: words === "" ? `${manager} ended with exit code ${exitCode ?? "unknown"}` : words,
  };
}

const unreachable = [
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ConnectionRefused|ConnectionClosed|DNSResolveFailed|FailedToOpenSocket)\b/,
  /Could not fetch URL .{1,1000}: (?:connection error|50\d )/,
  /connection broken by|Max retries exceeded|Tunnel connection failed: 5\d\d|\bE50[234]\b|\b50[234] (?:Bad Gateway|Service Unavailable|Gateway Time-?out|Server Error)| - 50[234]\b/i,
];

/** Whether the tool's words are those of a registry that does not answer, whatever else it says of its packages. */
export function cannotReachRegistry(output: string): boolean {
  return unreachable.some((words) => words.test(output));
}

/** Whether the tool's words are those of a package that has no version such as was asked for. */
export function findsNoVersion(output: string): boolean {
  return /No matching (?:version|distribution)|No version matching|No versions available|minimum-release-age|find a version that satisfies/i.test(
    output,
  );
}

/** Which registry it was is the operator's affair, and what comes out of a sandbox must not steer a terminal. */
function plain(line: string): string {
  return line.replaceAll(/\p{Cc}|\p{Cf}/gu, "").replaceAll(/\bhttps?:\/\/[^\s/"')]+/g, "");
}

function mentions(text: string, name: string): boolean {
  const at = text.replaceAll("_", "-").indexOf(name.replaceAll("_", "-"));
  if (at < 0) return false;
  const around = `${text[at - 1] ?? " "}${text[at + name.length] ?? " "}`;
  return !/[a-z0-9-]/.test(around.slice(1)) && !/[a-z0-9-]/.test(around.slice(0, 1));
}

async function unpackFrom(
  { manager, interpreter, ecosystem, specs, folder }: Installation,
  sandbox: Sandbox,
  { diskBytes }: Limits,
): Promise<Unpacked> {
  const process = await sandbox.exec({ command: await packCommand(manager, interpreter, sandbox) });
  process.stdin.end();
  try {
    const library = ecosystem === "python" ? await layOutPythonSet(folder) : folder;
    const limits = { ecosystem, ...setBounds, maxBytes: diskBytes };
    const unpacked = await unpack(stdoutOf(process), library, limits);
    return { ...unpacked, bytes: unpacked.bytes + ownBytes };
  } catch (cause) {
    const why = cause instanceof RangeError ? `: ${cause.message}` : "";
    throw installFailed(specs, `what was installed cannot be kept${why}`, { cause });
  }
}

async function* stdoutOf(process: Process): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { stream, bytes } of process.output) if (stream === "stdout") yield bytes;
}

/** What to say if pip would have had to build or clone: it names what it came to last. Null if that is not what happened. */
function notWheel(lines: readonly string[]): readonly string[] | null {
  if (!lines.some((line) => line.startsWith("ERROR: ") && line.includes(wheelsOnlyMark))) return null;
  const last = lines.findLast((line) => /^(?:Collecting|Processing) /.test(line)) ?? "";
  const [, name = "a package"] = /^Collecting ([\w.[\],-]{1,200})/.exec(last) ?? [];
  const from = /\(from ([\w.-]{1,200})/.exec(last)?.[1];
  const wantedBy = from === undefined ? "" : ` (from ${from})`;
  return [`${name}${wantedBy} is named by an address and is not a wheel; only wheels are installed`];
}
