import { findSyntaxError, runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import type { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { RunnerFile } from "../program/runner-job.ts";
import { missingModule, syntaxFailure } from "../program/program-failure.ts";
import type { JudgedRun } from "./conclude-run.ts";
import { explainEnding, type RunWords } from "./explain-ending.ts";
import { explainLostProxy } from "./network-report.ts";
import { canonicalName } from "../../policy/network/domain-names.ts";
import { hostChosen } from "../../policy/network/egress-policy.ts";

/** What a program was run with, as far as its errors show it. */
export interface ExplainedProgram {
  readonly toolchain: RuntimeName;
  readonly limits: Limits;
  readonly files: readonly RunnerFile[];
  readonly network: NetworkPolicy;
  /** What the interpreter calls a file; default: the path in `/work`. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

const words: RunWords = {
  subject: "program",
  sandbox: "The sandbox",
  suggestions: {},
  outOfMemory: (limit) => `The program ran out of its ${limit} of memory.`,
};

/** The error of a program that a runner ran, or null when there is nothing to explain. */
export function explainProgram(run: JudgedRun<BoundedOutput>, program: ExplainedProgram): GloveboxError | null {
  return explainEnding(run, words, program.limits, () => explainFailedProgram(run, program));
}

function explainFailedProgram(
  { end, networkReport }: JudgedRun<BoundedOutput>,
  { toolchain, files, nameOf, network }: ExplainedProgram,
): GloveboxError | null {
  if (networkReport.isLost) return explainLostProxy();
  const stderr = end.stderr.text();
  const { interpreter } = runtimeOf(toolchain);
  if (end.exitCode === 127 && stderr.trimEnd().endsWith(`${interpreter}: not found`)) return noInterpreter(interpreter);
  const found = findSyntaxError({ toolchain, stderr, exitCode: end.exitCode ?? 0, files, nameOf });
  if (found !== null) return syntaxFailure(found);
  return missingModule(toolchain, stderr) ?? explainFailure(stderr, network.kind, networkReport.lookedUp);
}

function noInterpreter(interpreter: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The image has no ${interpreter}.`, {
    suggestion: "Name an image that has it, or leave runtime and image out.",
    context: { missing: interpreter, retryable: false },
  });
}

/** How the kernel's refusals appear in the last lines that Python, Node and Bun write before they give up. */
const patterns: readonly { readonly type: "network" | "permission"; readonly words: RegExp }[] = [
  // The messages of our own guards, at isolation level `preload`.
  { type: "network", words: /\bglovebox: network\b/ },
  {
    type: "network",
    words: /\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ConnectionRefused|FailedToOpenSocket)\b/,
  },
  {
    type: "network",
    words:
      /\b(gaierror|Network is unreachable|No route to host|Name or service not known|Temporary failure in name resolution|Could not resolve host|Connection refused|Unable to connect)\b/,
  },
  {
    type: "permission",
    words:
      /\b(PermissionError|ERR_ACCESS_DENIED|EACCES|EPERM|EROFS|Read-only file system|Permission denied|Operation not permitted)\b/,
  },
];

/** How Node and Bun, curl, and Python's usual clients name the host that they looked up. */
const hostInText =
  /\b(?:(?:ENOTFOUND|EAI_AGAIN) |Could not resolve host: |Failed to resolve '|host=')([A-Za-z0-9.-]{1,253})(?![\w.-])/;

/** Names that a message quotes of those that were looked up. */
const shownNames = 3;

/** Only the end of stderr counts: an uncaught error is there, whatever the program printed before. */
const lastLines = 12;

/**
 * Why a program that failed by itself most likely did, when its last words say that the sandbox refused something;
 * null otherwise. It explains; the verdict stays "failed".
 */
export function explainFailure(
  stderr: string,
  network: NetworkPolicy["kind"] = "none",
  lookedUp: readonly string[] = [],
): GloveboxError | null {
  const tail = stderr.trimEnd().split("\n").slice(-lastLines).join("\n");
  const found = patterns.find(({ words }) => words.test(tail));
  const line =
    found &&
    tail
      .split("\n")
      .findLast((text) => found.words.test(text))
      ?.trim()
      .slice(0, 300);
  const names = strictNames(lookedUp);
  if (found === undefined || line === undefined) return network === "none" ? explainNames(names) : null;
  if (found.type === "network") {
    return new GloveboxError("NETWORK_ERROR", `A connection failed and the program with it: ${line}`, {
      suggestion:
        network === "none"
          ? withoutNetwork(nameIn(tail) ?? names[0])
          : "Only HTTP and HTTPS through the proxy of HTTP_PROXY and HTTPS_PROXY lead out of this sandbox: use a client that honours them.",
      context: { network },
    });
  }
  return new GloveboxError("PERMISSION_DENIED", `The sandbox refused something and the program failed: ${line}`, {
    suggestion:
      "Write to the working folder or /tmp only (the rest is read-only), run nothing that needs privileges, or ask for the permission.",
  });
}

/**
 * Of a program that said nothing about it: it looked up names and failed. That may have another reason, so it says what happened and
 * in which order, no more.
 */
function explainNames(names: readonly string[]): GloveboxError | null {
  if (names.length === 0) return null;
  const shown = names.slice(0, shownNames).map((name) => `"${name}"`);
  const more = names.length > shownNames ? " and others" : "";
  return new GloveboxError("NETWORK_ERROR", `The program failed after it looked up ${shown.join(", ")}${more}.`, {
    suggestion: withoutNetwork(names[0]),
    context: { network: "none", looked_up: names },
  });
}

function withoutNetwork(name: string | undefined): string {
  const way = name === undefined ? "Name the hosts that it needs in the run's network" : hostChosen(name);
  return `This run has no network (policy "none"). ${way}, or give the program its data as context files or stdin.`;
}

/** The program wrote the text: a name from it is one in strict form, and no more than what the program chose. */
function nameIn(text: string): string | undefined {
  return canonicalName(hostInText.exec(text)?.[1] ?? "") ?? undefined;
}

function strictNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(canonicalName))].filter((name) => name !== null);
}
