import type { FileResult, SuiteResults } from "./e2b-suite.ts";
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/clients.md with the table of a suite's tests that pass, and the reasons of those that do not. */
export function withSuiteTable(text: string, suite: string, { commit, engines }: SuiteResults): string {
  const names = Object.keys(engines).toSorted();
  const files = [...new Set(names.flatMap((name) => (engines[name] ?? []).map(({ file }) => file)))].toSorted();
  const rows = files.map((file) => [
    `\`${file}\``,
    ...names.map((name) => counted((engines[name] ?? []).filter((each) => each.file === file))),
    reasons(names.flatMap((name) => (engines[name] ?? []).filter((each) => each.file === file))),
  ]);
  const all = names.map((name) => `${counted(engines[name] ?? [])} on ${name}`).join(", ");
  const lines = [["file", ...names, "why not"], Array<string>(names.length + 2).fill("---"), ...rows];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const about = `At commit \`${commit.slice(0, 12)}\`, passed of all: ${all}.`;
  return replaceMarked(text, suite, `${about}\n\n${table}`);
}

/** Passed of those that ran. */
function counted(results: readonly FileResult[]): string {
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  const failed = results.reduce((sum, each) => sum + each.failed.length, 0);
  return results.length === 0 ? "not run" : `${passed} of ${passed + failed}`;
}

const shownLength = 110;

/** Each different first line of an error once. */
function reasons(results: readonly FileResult[]): string {
  const messages = results.flatMap(({ failed }) => failed.map(({ message }) => shortened(message)));
  return [...new Set(messages)].join("<br>");
}

function shortened(message: string): string {
  const general = message.replaceAll(/\/(work|home\/user)\/[^'",\]\s]+/g, "/$1/*");
  const cut = general.length > shownLength ? `${message.slice(0, shownLength)}...` : message;
  return cut.replaceAll(/[|<>`]/g, " ");
}
