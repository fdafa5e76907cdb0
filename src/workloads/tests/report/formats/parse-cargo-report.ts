import { exitCodeOf, extended } from "./parse-go-report.ts";
import type { TestEntry, TestReport, TestStatus } from "../test-report.ts";

/** Tests of one run, and characters of what one test prints that are kept. */
const maxTests = 500_000;
const maxUnfinished = 100;

const statuses: Readonly<Record<string, TestStatus>> = { ok: "passed", FAILED: "failed", ignored: "skipped" };

/**
 * What `cargo test` prints for people, before a line with the exit code: untrusted, and partly of the tests' own making. A
 * block whose tests are not as many as its summary says is no report.
 * @throws RangeError for such a block, and for text without an exit code
 */
export function parseCargoReport(text: string): TestReport {
  const lines = text.split("\n");
  const exitCode = exitCodeOf(lines);
  if (exitCode === null) throw new RangeError("no report of cargo");
  const tests: TestEntry[] = [];
  const unfinished: string[] = [];
  const starts = lines.flatMap((line, index) => (beginsBlock(line) ? [index] : []));
  for (const [index, at] of starts.entries()) {
    const block = lines.slice(at + 1, starts[index + 1]);
    const end = block.findIndex((line) => line.startsWith("test result: "));
    const found = readBlock(end < 0 ? block : block.slice(0, end));
    // A test of a target that ends its process takes the rest of that target with it.
    if (end < 0)
      unfinished.push(`a target with ${lines[at]?.slice("running ".length)}, of which ${found.length} ended,`);
    else checkSummary(block[end] ?? "", found);
    tests.push(...found);
    if (tests.length > maxTests) throw new RangeError(`more than ${maxTests} tests`);
  }
  if (tests.length === 0 && unfinished.length === 0 && exitCode !== 0)
    tests.push(errorOf("It could not be built, or not be started: see the output."));
  return { runner: "cargo", tests, unfinished: unfinished.slice(0, maxUnfinished), coverage: null };
}

function beginsBlock(line: string): boolean {
  return /^running \d{1,7} tests?$/.test(line);
}

function readBlock(lines: readonly string[]): readonly TestEntry[] {
  const failures = lines.findIndex((line) => line === "failures:" || line === "successes:");
  const printed = detailsOf(failures < 0 ? [] : lines.slice(failures));
  return lines.slice(0, failures < 0 ? lines.length : failures).flatMap((line) => {
    const found = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$/s.exec(line);
    if (found === null) return [];
    const [, name = "", word = ""] = found;
    return [entryOf(name, statuses[word] ?? "other", printed.get(name) ?? "")];
  });
}

/** What failed tests printed: a section of each, behind a line that names it. */
function detailsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const details = new Map<string, string>();
  let name: string | null = null;
  for (const line of lines) {
    const next = /^---- (.+) stdout ----$/.exec(line)?.[1];
    if (next !== undefined) name = next;
    else if (line === "failures:") name = null;
    else if (name !== null) details.set(name, extended(details.get(name), `${line}\n`));
  }
  return details;
}

function entryOf(name: string, status: TestStatus, printed: string): TestEntry {
  const place = / panicked at ([^\n]{1,1000}?):(\d{1,9}):\d{1,9}:\n([^\n]*)/.exec(printed);
  const details = printed.trim();
  const isBad = status === "failed";
  return {
    name,
    suite: [],
    status,
    file: place?.[1]?.replace(/^\.\//, "") ?? null,
    line: place === null ? null : Number(place[2]),
    durationMs: null,
    message: isBad ? (place?.[3] ?? details.split("\n")[0] ?? "") : null,
    details: isBad ? details : null,
  };
}

function checkSummary(line: string, block: readonly TestEntry[]): void {
  const numbers = /^test result: \w+\. (\d{1,7}) passed; (\d{1,7}) failed; (\d{1,7}) ignored; /.exec(line);
  const found = ["passed", "failed", "skipped"].map((status) => block.filter((test) => test.status === status).length);
  if (numbers === null || found.some((count, index) => count !== Number(numbers[index + 1]))) {
    throw new RangeError("a summary that its tests do not come to");
  }
}

function errorOf(message: string): TestEntry {
  const place = { file: null, line: null, durationMs: null };
  return { name: "cargo test", suite: [], status: "error", ...place, message, details: "" };
}
