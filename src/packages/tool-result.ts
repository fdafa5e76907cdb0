import { BoundedOutput } from "../base/streams/collected-bytes.ts";
import { kibibyte } from "../base/bytes.ts";
import type { Process } from "../engines/engine.ts";
import { installFailed } from "./install-failed.ts";
import type { Installation } from "./install.ts";
import type { GloveboxError } from "../errors/glovebox-error.ts";
import { wheelsOnlyMark, packageName, type Ecosystem } from "../policy/install-policy.ts";
import type { PackageManager } from "./package-manager.ts";

/** How an installing tool ended, and all that it wrote, as far as it is kept. */
export interface ToolResult {
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

export interface FailureNotes {
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

/** What to say if pip would have had to build or clone: it names what it came to last. Null if that is not what happened. */
function notWheel(lines: readonly string[]): readonly string[] | null {
  if (!lines.some((line) => line.startsWith("ERROR: ") && line.includes(wheelsOnlyMark))) return null;
  const last = lines.findLast((line) => /^(?:Collecting|Processing) /.test(line)) ?? "";
  const [, name = "a package"] = /^Collecting ([\w.[\],-]{1,200})/.exec(last) ?? [];
  const from = /\(from ([\w.-]{1,200})/.exec(last)?.[1];
  const wantedBy = from === undefined ? "" : ` (from ${from})`;
  return [`${name}${wantedBy} is named by an address and is not a wheel; only wheels are installed`];
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
