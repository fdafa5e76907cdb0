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
export function extended(text = "", more: string): string {
  return text.length >= maxText ? text : (text + more).slice(0, maxText);
}

/** What the shell writes after the output: a mark and the exit code. */
export function exitCodeOf(lines: readonly string[]): number | null {
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
