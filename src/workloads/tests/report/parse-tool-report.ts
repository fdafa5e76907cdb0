import type { TestEntry, TestReport, TestStatus } from "./test-report.ts";

/** Tests of one run, and characters of what one test or package prints that are kept. */
const maxTests = 500_000;
const maxText = 16_384;
const maxUnfinished = 100;

type Event = Readonly<
  Partial<Record<"Action" | "Package" | "Test" | "Output" | "ImportPath" | "FailedBuild", unknown>>
> & {
  readonly Elapsed?: unknown;
};

const statuses: Readonly<Record<string, TestStatus>> = { pass: "passed", fail: "failed", skip: "skipped" };

/** What is known of one test, of a package as a whole, or of a build. */
interface Subject {
  text: string;
  status: TestStatus | null;
  durationMs: number | null;
}

/**
 * The events of `go test -json`, behind a line with the module's path and the folder that it ran in and before one with the
 * exit code: untrusted. Tests and subtests are named as Go does; a package that cannot be built or that fails by none of its
 * tests is an error.
 * @throws RangeError for what has no such lines
 */
export function parseGoReport(text: string, folder: string): TestReport {
  const lines = text.split("\n");
  const [module, place] = (lines[0] ?? "").split("\t");
  const exitCode = exitCodeOf(lines);
  if (module === undefined || place === undefined || exitCode === null) throw new RangeError("no report of Go");
  const events = lines.slice(1).map(eventOf);
  const packages = readEvents(events);
  const builds = readBuilds(events);
  const base = place === folder ? "" : place.startsWith(`${folder}/`) ? `${place.slice(folder.length + 1)}/` : "";
  const tests = [...packages].flatMap(([name, { own, tests: all, failedBuild }]) => {
    const path =
      name === module ? "" : name.startsWith(`${module}/`) ? `${name.slice(module.length + 1)}/` : `${name}/`;
    const entries = [...all].map(([test, subject]) => entryOf(test, subject, name, `${base}${path}`));
    const isExplained = entries.some(({ status }) => status === "failed" || status === "error");
    if (own.status !== "failed" || isExplained) return entries;
    const said = builds.get(failedBuild ?? "") ?? own.text;
    return [...entries, errorOf(name, said)];
  });
  if (exitCode !== 0 && tests.length === 0) tests.push(errorOf("go test", [...builds.values()].join("\n")));
  return { runner: "go", tests, unfinished: unfinishedOf(packages), coverage: coverageOf(packages) };
}

/** Packages that passed without a word of a test: their `TestMain` ended before it ran any. */
function unfinishedOf(packages: ReadonlyMap<string, GoPackage>): readonly string[] {
  return [...packages]
    .filter(([, { own, tests }]) => own.status === "passed" && tests.size === 0 && !saysEmpty(own.text))
    .map(([name]) => name)
    .slice(0, maxUnfinished);
}

function saysEmpty(text: string): boolean {
  return text.includes("[no tests to run]") || text.includes("[no test files]");
}

/** A text with more of it, as far as it is kept. Nothing is copied once it is full: an output has as many parts as it likes. */
function extended(text = "", more: string): string {
  return text.length >= maxText ? text : (text + more).slice(0, maxText);
}

/** What the shell writes after the output: a mark and the exit code. */
function exitCodeOf(lines: readonly string[]): number | null {
  const last = lines.findLast((line) => line !== "") ?? "";
  const code = /[0-9a-f]{64} (\d{1,3})$/.exec(last)?.[1];
  return code === undefined ? null : Number(code);
}

interface GoPackage {
  readonly own: Subject;
  readonly tests: Map<string, Subject>;
  failedBuild: string | null;
}

function readEvents(events: readonly Event[]): ReadonlyMap<string, GoPackage> {
  const packages = new Map<string, GoPackage>();
  let count = 0;
  for (const event of events) {
    const { Action: action, Package: name, Test: test, Output: output } = event;
    if (typeof name !== "string" || typeof action !== "string") continue;
    const known = packages.get(name) ?? { own: newSubject(), tests: new Map<string, Subject>(), failedBuild: null };
    packages.set(name, known);
    if (typeof test === "string" && !known.tests.has(test) && (count += 1) > maxTests) throw new RangeError("too many");
    const subject = typeof test === "string" ? (known.tests.get(test) ?? newSubject()) : known.own;
    if (typeof test === "string") known.tests.set(test, subject);
    if (action === "output" && typeof output === "string") subject.text = extended(subject.text, output);
    if (typeof event.FailedBuild === "string") known.failedBuild = event.FailedBuild;
    const status = statuses[action];
    if (status === undefined) continue;
    subject.status = status;
    subject.durationMs = typeof event.Elapsed === "number" && event.Elapsed >= 0 ? event.Elapsed * 1000 : null;
  }
  return packages;
}

function readBuilds(events: readonly Event[]): ReadonlyMap<string, string> {
  const builds = new Map<string, string>();
  for (const { Action: action, ImportPath: path, Output: output } of events) {
    if (action !== "build-output" || typeof path !== "string" || typeof output !== "string") continue;
    builds.set(path, extended(builds.get(path), output));
  }
  return builds;
}

function eventOf(line: string): Event {
  if (!line.startsWith("{")) return {};
  try {
    return JSON.parse(line) as Event;
  } catch {
    // What a program printed into the stream.
    return {};
  }
}

function entryOf(name: string, { text, status, durationMs }: Subject, suite: string, folder: string): TestEntry {
  // A test that began and has no end was cut off.
  const ended = status ?? "error";
  const isBad = ended === "failed" || ended === "error";
  const said = text.split("\n").filter((line) => !/^ *(?:===|---) [A-Z]+:? /.test(line));
  const place = /^\s*([\w.-]+_test\.go):(\d{1,9}): (.*)/.exec(said.find((line) => /_test\.go:\d+: /.test(line)) ?? "");
  const details = said.join("\n").trim();
  return {
    name,
    suite: [suite],
    status: ended,
    file: place === null ? null : `${folder}${place[1]}`,
    line: place === null ? null : Number(place[2]),
    durationMs,
    message: isBad ? (place?.[3] ?? firstLine(details)) : null,
    details: isBad ? details : null,
  };
}

function errorOf(name: string, said: string): TestEntry {
  const details = said.trim();
  // A build's output begins with the package's name.
  const first = firstLine(details.replace(/^#.*\n/, ""));
  const place = /^([^\s:]+\.go):(\d{1,9}):/.exec(first);
  return {
    name,
    suite: [],
    status: "error",
    file: place?.[1] ?? null,
    line: place === null ? null : Number(place[2]),
    durationMs: null,
    message: first,
    details,
  };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

/** Of statements, and only where one package measured it: Go says no sum of several. */
function coverageOf(packages: ReadonlyMap<string, GoPackage>): number | null {
  const found = [...packages.values()].flatMap(
    ({ own }) => /^coverage: (\d+(?:\.\d+)?)% of statements/m.exec(own.text)?.[1] ?? [],
  );
  return found.length === 1 ? Number(found[0]) : null;
}

function newSubject(): Subject {
  return { text: "", status: null, durationMs: null };
}

const cargoStatuses: Readonly<Record<string, TestStatus>> = { ok: "passed", FAILED: "failed", ignored: "skipped" };

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
    tests.push(errorOfCargo("It could not be built, or not be started: see the output."));
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
    return [entryOfCargo(name, cargoStatuses[word] ?? "other", printed.get(name) ?? "")];
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

function entryOfCargo(name: string, status: TestStatus, printed: string): TestEntry {
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

function errorOfCargo(message: string): TestEntry {
  const place = { file: null, line: null, durationMs: null };
  return { name: "cargo test", suite: [], status: "error", ...place, message, details: "" };
}
