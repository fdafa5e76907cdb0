import { wheelsOnlyMark } from "../../policy/wheels-only.ts";
import type { Ecosystem } from "../../policy/package-specs.ts";
import { packageName } from "../../policy/package-specs.ts";
import type { PackageManager } from "./package-manager.ts";

/** What went wrong with which packages. */
export interface InstallFailure {
  /** Of those that were asked for; all of them when the tool does not say which. */
  readonly packages: readonly string[];
  /** The tool's own words, in one line. */
  readonly reason: string;
}

export interface InstallFailureFacts {
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
