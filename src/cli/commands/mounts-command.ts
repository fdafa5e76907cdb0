import {
  checkMountContract,
  listMountsContract,
  type CheckMountResponse,
  type ListMountsResponse,
  type CheckMountRequest,
} from "../../operations/mounts-contract.ts";
import { escapeLine, formatTable, indented } from "../output/terminal-text.ts";
import type { Command } from "commander";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { openCalls } from "../open-calls.ts";
import { mountUses } from "../../operations/contract/wire-values.ts";
import type { MountUse } from "../../policy/mounts/mount-policy.ts";
import { checkChoice } from "../../policy/request/invalid-value.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { exitCodes } from "../exit-code.ts";

type Verdict = CheckMountResponse["verdicts"][number];

const titles: Readonly<Record<Verdict["use"], string>> = {
  project: "As a project or a file of one",
  additional: "As an additional mount",
};

/** The gate's verdict on a path, for people. */
function mountCheckReport({ path, real_path: realPath, kind, verdicts, notices }: CheckMountResponse): string {
  const lines = [
    ...notices.flatMap((notice) => indented(notice, "note: ", "      ")),
    path,
    ...(realPath === null ? [] : [`     real path:  ${realPath} (${kind ?? "unknown"})`]),
    ...verdicts.flatMap(verdictLines),
  ];
  return `${lines.map(escapeLine).join("\n")}\n`;
}

function verdictLines(verdict: Verdict): string[] {
  const answer = verdict.allowed ? `allowed, ${verdict.read_only ? "read-only" : "read-write"}` : "refused";
  return [
    `${verdict.allowed ? "[ok]" : "[--]"} ${titles[verdict.use]}: ${answer}`,
    ...field("rule", verdict.rule),
    ...field("root", verdict.root === null ? null : `${verdict.root} (${verdict.listed_as ?? ""})`),
    ...field("why", verdict.explanation),
    ...field("target", verdict.target),
    ...field(verdict.allowed ? "for more" : "allowed by", verdict.what_would_allow),
  ];
}

function field(name: string, text: string | null): string[] {
  return text === null ? [] : indented(text, `     ${`${name}:`.padEnd(12)}`, " ".repeat(17));
}

/** The mount policy in force, for people. */
function mountsReport(response: ListMountsResponse): string {
  const { allowlist, looked_for: lookedFor, roots, blocked_patterns: patterns, notices } = response;
  const whats = [...new Set(patterns.map(({ what }) => what))];
  const blocked = whats.flatMap((what) => [
    `     ${what ?? "of the mount allowlist"}`,
    ...indented(patterns.flatMap((row) => (row.what === what ? [row.pattern] : [])).join(", "), "       "),
  ]);
  const rows = roots.map((root) => [
    root.exists ? root.path : `${root.path} (missing)`,
    root.allow_read_write ? "read-write" : "read-only",
    root.listed_as,
    root.description ?? "",
  ]);
  return [
    ...notices.map((notice) => `${indented(notice, "note: ", "      ").join("\n")}\n`),
    `Mount allowlist: ${escapeLine(allowlist ?? `none (looked for ${lookedFor.join(", ")})`)}\n`,
    `Additional mounts of other groups than the main one: ${response.non_main_read_only ? "read-only" : "as the root says"}\n`,
    "\nFolders that may be used\n",
    rows.length === 0 ? "     none\n" : formatTable(["FOLDER", "ACCESS", "LISTED AS", "DESCRIPTION"], rows),
    "\nBlocked patterns, in any component of a path\n",
    `${blocked.map(escapeLine).join("\n")}\n`,
    "\nPlaces that no sandbox gets, nor a folder that holds one\n",
    formatTable(
      ["PLACE", "WHAT"],
      response.protected_places.map(({ path, what }) => [path, what]),
    ),
  ].join("");
}

interface CheckOptions {
  readonly as?: string;
  readonly readOnly?: boolean;
  readonly readWrite?: boolean;
  readonly main?: boolean;
  readonly target?: string;
  readonly json?: boolean;
}

/** `glovebox mounts check` and `list`: which paths of this machine sandboxes may get, and why. */
export function addMountsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const mounts = program.command("mounts");
  mounts
    .command("check")
    .description("Say whether a sandbox can get a path, by which rule, and what would allow it.")
    .argument("<path>", "file or folder")
    .option("--as <use>", "project (including files in one) or additional (default: both)")
    .option("--read-only", "ask for reading only")
    .option("--read-write", "ask for writing too")
    .option("--main", "ask for the main group")
    .option("--target <path>", "relative path below /workspace/extra")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExit code: 0 if it is allowed (with --read-write: writable) for one of the requested uses, else 1.",
    )
    .action(async (path: string, options: CheckOptions) => {
      const request = checkRequest(path, options);
      await using calls = await openCalls();
      const response = await calls.send(checkMountContract, request, { signal: io.signal });
      io.stdout.write(options.json === true ? `${JSON.stringify(response)}\n` : mountCheckReport(response));
      setExitCode(isGranted(response, options) ? 0 : exitCodes.refused);
    });
  mounts
    .command("list")
    .description("Show the allowlist, the allowed folders, the blocked patterns and the protected places.")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { readonly json?: boolean }) => {
      await using calls = await openCalls();
      const response = await calls.send(listMountsContract, {}, { signal: io.signal });
      io.stdout.write(json === true ? `${JSON.stringify(response)}\n` : mountsReport(response));
      setExitCode(0);
    });
}

function checkRequest(path: string, options: CheckOptions): CheckMountRequest {
  if (options.readOnly === true && options.readWrite === true) {
    throw new GloveboxError("INVALID_REQUEST", "--read-only and --read-write: expected one of them.", {
      suggestion: "Leave one of them out.",
      context: { field: "--read-only" },
    });
  }
  const use: MountUse | undefined = options.as === undefined ? undefined : checkChoice(options.as, mountUses, "--as");
  return {
    path,
    use,
    access: options.readOnly === true ? "read-only" : "read-write",
    is_main: options.main === true,
    target: options.target,
  };
}

function isGranted({ verdicts }: CheckMountResponse, { readWrite }: CheckOptions): boolean {
  return verdicts.some((verdict) => verdict.allowed && !(readWrite === true && verdict.read_only));
}
