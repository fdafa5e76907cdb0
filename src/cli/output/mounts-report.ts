import type { CheckMountResponse, ListMountsResponse } from "../../operations/mounts-contract.ts";
import { escapeLine } from "./terminal-escape.ts";
import { formatTable } from "./format-table.ts";
import { indented } from "./wrap-text.ts";

type Verdict = CheckMountResponse["verdicts"][number];

const titles: Readonly<Record<Verdict["use"], string>> = {
  project: "As a project or a file of one",
  additional: "As an additional mount",
};

/** The gate's verdict on a path, for people. */
export function mountCheckReport({ path, real_path: realPath, kind, verdicts, notices }: CheckMountResponse): string {
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
export function mountsReport(response: ListMountsResponse): string {
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
