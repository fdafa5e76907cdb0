import { maxPackages } from "../operations/contract/wire-values.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { invalidValue } from "./request/invalid-value.ts";
import { languageOf, type Ecosystem, type LanguageName } from "../languages/language-table.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

export type { Ecosystem } from "../languages/language-table.ts";

/** Longest specification, in bytes; npm's own limit for a name is 214. */
const maxSpecBytes = 300;

const npmName = String.raw`(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~_-][a-z0-9._~-]*`;
/** A version, a range without spaces, or a tag. */
const npmVersion = String.raw`[A-Za-z0-9.+~^<>=*_-]+`;
const npmSpec = new RegExp(`^(?:npm:)?(?<name>${npmName})(?:@(?<version>${npmVersion}))?$`, "i");

const pythonName = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?";
const pythonClause = String.raw`(?:===?|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+`;
const pythonSpec = new RegExp(
  String.raw`^(?<name>${pythonName})(?<extras>\[${pythonName}(?:,${pythonName})*\])?(?<version>${pythonClause}(?:,${pythonClause})*)?$`,
);

/** Where the packages of a language come from; null: it has none. */
export function ecosystemOf(language: LanguageName): Ecosystem | null {
  return languageOf(language).ecosystem;
}

/**
 * The packages of a request in one form: sorted, each once, so that the same wish is always the same list.
 * Only names with versions: no address, no path, no option of the installing tool.
 * @throws INVALID_REQUEST naming the package, also for two versions of one
 */
export function checkPackages(
  specs: readonly string[],
  ecosystem: Ecosystem | null,
  field = "packages",
): readonly string[] {
  if (ecosystem === null && specs.length > 0) throw invalidValue(field, "expected none: the language has no packages");
  if (ecosystem === null) return [];
  if (specs.length > maxPackages) {
    throw invalidValue(field, `expected at most ${maxPackages} packages, found ${specs.length}`);
  }
  const byName = new Map<string, string>();
  for (const [index, text] of specs.entries()) {
    const { name, spec } = parse(text, ecosystem, `${field}[${index}]`);
    const other = byName.get(name);
    if (other !== undefined && other !== spec) {
      throw invalidValue(`${field}[${index}]`, `expected each package once, found "${other}" and "${spec}"`);
    }
    byName.set(name, spec);
  }
  return Object.freeze([...byName.values()].toSorted());
}

/** The package's name in its usual form: `lodash` of `lodash@4.17.21`, `pyyaml` of `PyYAML==6.0`. */
export function packageName(spec: string, ecosystem: Ecosystem): string {
  return parse(spec, ecosystem, "packages").name;
}

/** Which packages the operator lets be fetched. */
export interface InstallPolicy {
  /** Patterns of names; of none given, every package is allowed. */
  readonly allow: readonly string[];
  /** Patterns of names; they count before `allow`, and for what packages bring along, too. */
  readonly deny: readonly string[];
  /** How long a version must have been published; 0: no matter how long. */
  readonly minAgeMs: number;
  /** Whether that was set by name: then a tool that cannot tell is refused. */
  readonly isMinAgeDemanded: boolean;
}

/** What a pattern of a setting may be. */
export const packagePattern = /^(?:(?:npm|python):)?(?:@[\w.*~-]{1,100}\/)?[\w*][\w.*~-]{0,100}$/;

/** @throws POLICY_DENIED naming the package and the setting */
export function assertPackagesAllowed(
  specs: readonly string[],
  ecosystem: Ecosystem,
  { allow, deny }: Pick<InstallPolicy, "allow" | "deny">,
): void {
  for (const spec of specs) {
    const name = packageName(spec, ecosystem);
    const isNamedIn = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => matches(pattern, name, ecosystem));
    if (isNamedIn(deny)) throw refused(name, "packages.deny", "names it");
    if (allow.length > 0 && !isNamedIn(allow)) throw refused(name, "packages.allow", "does not name it");
  }
}

/** The same for what they brought along, of which only `deny` speaks. @throws POLICY_DENIED */
export function assertNoneDenied(
  names: readonly string[],
  ecosystem: Ecosystem,
  { deny }: Pick<InstallPolicy, "deny">,
): void {
  const denied = names.find((name) => deny.some((pattern) => matches(pattern, usualName(name, ecosystem), ecosystem)));
  if (denied !== undefined) throw refused(denied, "packages.deny", "names it");
}

const variables = { "packages.allow": "GLOVEBOX_PACKAGES_ALLOW", "packages.deny": "GLOVEBOX_PACKAGES_DENY" } as const;

/** What the output of pip has where it would have started a process, which is how it builds and how it runs git. */
export const wheelsOnlyMark = "glovebox: only wheels are installed";

/**
 * Python's text that is pip without processes; its arguments are pip's. pip builds what a package names by an address, whatever
 * it is told of wheels (`--only-binary`), and a build is code of that package. Everything that is not a wheel, of any
 * version of pip, takes a process: its build backend, its `setup.py`, git. So none is started; that needs no name of pip's inside.
 * Processes that pip itself likes to have (`lsb_release`, `rustc --version`) are not needed: it goes on without them. On musl
 * it asks the loader for its version, which is the one process that it gets. An interpreter without audit hooks, or whose
 * hooks do nothing, installs nothing.
 */
export const wheelsOnlyPip = `
import os, runpy, sys
os.environ["PIP_CONFIG_FILE"] = os.devnull
starts = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system", "pty.spawn", "_winapi.CreateProcess"}
def asks_musl(event, values):
    words = values[1] if event == "subprocess.Popen" else None
    return isinstance(words, list) and len(words) == 1 and str(words[0]).startswith("/lib/ld-musl-")
def refuse(event, values):
    if event in starts and not asks_musl(event, values):
        raise OSError("${wheelsOnlyMark}, and this package would have to be built or cloned")
try:
    sys.addaudithook(refuse)
    sys.audit("os.system", b"")
    sys.exit("ERROR: ${wheelsOnlyMark}, and this Python cannot keep pip from building others")
except AttributeError:
    sys.exit("ERROR: ${wheelsOnlyMark}, which takes Python 3.8 or later")
except OSError:
    pass
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;

function parse(text: string, ecosystem: Ecosystem, field: string): { readonly name: string; readonly spec: string } {
  const isNpm = ecosystem === "npm";
  const plain = isNpm ? text.trim() : text.replaceAll(/\s+/g, "");
  const found = utf8Length(plain) > maxSpecBytes ? null : (isNpm ? npmSpec : pythonSpec).exec(plain);
  const { name = "", version = "", extras = "" } = found?.groups ?? {};
  if (name === "" || name.startsWith("-")) {
    const example = isNpm ? "lodash, @scope/name or lodash@4.17.21" : "requests, requests==2.32.0 or name[extra]>=1,<2";
    throw invalidValue(field, `expected a package such as ${example}, got ${JSON.stringify(text.slice(0, 80))}`);
  }
  if (isNpm) return { name: name.toLowerCase(), spec: version === "" ? name : `${name}@${version}` };
  const usual = usualName(name, "python");
  return { name: usual, spec: `${usual}${extras.toLowerCase()}${version}` };
}

function matches(pattern: string, name: string, ecosystem: Ecosystem): boolean {
  const [, only, words = ""] = /^(?:(npm|python):)?(.*)$/.exec(pattern) ?? [];
  if (only !== undefined && only !== ecosystem) return false;
  const parts = usualName(words, ecosystem).split("*");
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w@]/g, String.raw`\$&`)).join(".*")}$`).test(name);
}

/** A package's name in the form by which names are compared. */
export function usualName(name: string, ecosystem: Ecosystem): string {
  return ecosystem === "python" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name.toLowerCase();
}

function refused(name: string, setting: keyof typeof variables, why: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `Package ${name} may not be installed here: ${setting} ${why}.`, {
    suggestion: `Do without ${name}, or have the operator change ${setting} (${variables[setting]}).`,
    context: { field: "packages", package: name, setting },
  });
}
