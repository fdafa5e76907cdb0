import { parse } from "smol-toml";
import { shellQuoted } from "../../base/shell-words.ts";

/** The tool that installs a project's dependencies, chosen by the name of the lockfile. */
export type InstallerName = "bun" | "pnpm" | "yarn" | "npm" | "uv" | "poetry" | "requirements" | "pyproject";

/** Text of the files of a project that its installer reads, by path; missing ones are left out. */
export type InputFiles = Readonly<Record<string, string>>;

/** An installation that is fully determined by the files read for it, so that its result can be kept for later runs. */
export interface KeptInstallation {
  readonly ecosystem: "npm" | "python";
  readonly interpreter: "node" | "bun" | "python";
  /** The project's files that its own sandbox gets. */
  readonly files: InputFiles;
  readonly line: string;
  /** Files and folders to keep, relative to the working folder. */
  readonly kept: readonly string[];
  /** The shell line for the steps that need the rest of the project, run in its copy; null: none. */
  readonly after: string | null;
}

/** How dependencies are installed. */
interface Installer {
  /** Paths of the files that determine what is installed, relative to the project. */
  readonly inputs: readonly string[];
  /** The shell line that installs everything in the project's copy; null: there is nothing to install. */
  readonly line: (files: InputFiles) => string | null;
  /** Whether tests may pass without it, as no lockfile says that they need it. Default false. */
  readonly isOptional?: boolean;
  /** Null if other files of the project may affect what is installed. */
  readonly keep: (files: InputFiles) => KeptInstallation | null;
}

/** Extras and groups that tests usually need. */
const names = ["dev", "test", "tests", "testing"];

type Table = Readonly<Record<string, unknown>>;

/**
 * What pip has to install for a `pyproject.toml`: the project itself, in place, if it names a build system; else the
 * packages that it needs. Includes extras and groups for tests. Empty: nothing, for example if the file only contains
 * tool settings.
 * @hostileText Exported for the test that feeds it.
 */
export function pyprojectPackages(text: string): readonly string[] {
  let file: Table;
  try {
    file = parse(text);
  } catch {
    // pip reports what is wrong with it.
    return ["--editable", "."];
  }
  const project = table(file["project"]);
  const extras = table(project["optional-dependencies"]);
  const chosen = names.filter((name) => Object.hasOwn(extras, name));
  const groups = table(file["dependency-groups"]);
  const grouped = names.flatMap((name) => requirementsOf(groups[name]));
  if (file["build-system"] !== undefined)
    return ["--editable", chosen.length === 0 ? "." : `.[${chosen.join()}]`, ...grouped];
  return [
    ...requirementsOf(project["dependencies"]),
    ...chosen.flatMap((name) => requirementsOf(extras[name])),
    ...grouped,
  ];
}

const common = { ecosystem: "python", interpreter: "python" } as const;
/** Folders of what pip installs, and of the environment that uv and Poetry create. */
const ofPip = ["python"];
const ofEnvironment = ["python", "project/.venv"];

const hash = /^--hash=\w+:\w+$/;
const extras = /^\[[\w\s,.-]*\]/;
const versions = /^\(?[=<>!~][\w\s.,*+!=<>~-]*\)?$/;

/**
 * Keeps what a list of plain requirements installs.
 * @hostileText Exported for the test that feeds it.
 */
export function keepRequirements(files: InputFiles): KeptInstallation | null {
  const text = files["requirements.txt"] ?? "";
  const lines = text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/);
  const isPlain = lines.every(isPlainRequirement);
  if (!isPlain) return null;
  const line = "python3 -m pip install --requirement requirements.txt";
  return { ...common, files, line, kept: ofPip, after: null };
}

/**
 * Keeps everything except the project itself, which is installed afterwards if it can be built.
 * @hostileText Exported for the test that feeds it.
 */
export function keepUv(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  // Parts of the project that are listed by path.
  if (/\b(?:workspace|path)\b\s*[=.\]]/.test(text)) return null;
  const isBuilt = /^[ \t]*\[build-system\]/m.test(text) || /^[ \t]*package[ \t]*=[ \t]*true/m.test(text);
  const line = "python3 -m pip install uv && uv sync --locked --no-install-project";
  return { ...common, files, line, kept: ofEnvironment, after: isBuilt ? "uv sync --locked" : null };
}

/**
 * As `keepUv`.
 * @hostileText Exported for the test that feeds it.
 */
export function keepPoetry(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  if (/\bpath\s*=/.test(text)) return null;
  const isBuilt = !/^[ \t]*package-mode[ \t]*=[ \t]*false/m.test(text);
  const line = "python3 -m pip install poetry && poetry install --no-interaction --no-root";
  const after = isBuilt ? "poetry install --no-interaction --only-root" : null;
  return { ...common, files, line, kept: ofEnvironment, after };
}

const pip = "python3 -m pip install";

const uv: Installer = {
  inputs: ["pyproject.toml", "uv.lock", "uv.toml", ".python-version"],
  line: () => `${pip} uv && uv sync --locked`,
  keep: keepUv,
};

const poetry: Installer = {
  inputs: ["pyproject.toml", "poetry.lock", "poetry.toml"],
  line: () => `${pip} poetry && poetry install --no-interaction`,
  keep: keepPoetry,
};

const requirements: Installer = {
  inputs: ["requirements.txt"],
  line: () => `${pip} --requirement requirements.txt`,
  keep: keepRequirements,
};

/** A project without a lockfile: its declared dependencies, and the project itself if it can be built. */
const pyproject: Installer = {
  inputs: ["pyproject.toml"],
  line: (files) => {
    const packages = pyprojectPackages(files["pyproject.toml"] ?? "");
    return packages.length === 0 ? null : `${pip} ${packages.map(quote).join(" ")}`;
  },
  isOptional: true,
  // Without a lockfile it is unknown what was installed.
  keep: () => null,
};

/**
 * `package.json`; empty if it is invalid, which the installer reports.
 * @hostileText Exported for the test that feeds it.
 */
export function manifestOf(files: InputFiles): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(files["package.json"] ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}

/** Folders like `node_modules` that an installer leaves, and its own tools. */
const kept = [
  ...["project/node_modules", "project/.pnp.cjs", "project/.pnp.loader.mjs", "project/.yarn", "tools"],
] as const;
/** Scripts of the project itself that run at installation, in order; it is too late for `preinstall` by then. */
const scriptNames = ["install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
const dependencyFields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "resolutions"];
/** A version that refers to other files of the project. */
const localVersion = /^(?:file|link|portal|workspace|patch|exec):|^[./~]/;
/** How lockfiles and settings refer to them. */
const localMarks: Readonly<Record<string, RegExp>> = {
  "package-lock.json": /"link": true|"resolved": "(?:file:|\.)/,
  "npm-shrinkwrap.json": /"link": true|"resolved": "(?:file:|\.)/,
  "pnpm-workspace.yaml": /^[ \t]*(?:packages|patchedDependencies)[ \t]*:/m,
  "pnpm-lock.yaml": /^patchedDependencies:|\b(?:file|link):/m,
  ".yarnrc.yml": /^plugins:/m,
};

/**
 * Keeps what is determined only by the manifest, the lockfile and the installer's settings; the project's scripts run
 * afterwards.
 * @hostileText Exported for the test that feeds it.
 */
export function keepNodeModules(
  files: InputFiles,
  line: string | null,
  interpreter: "node" | "bun" = "node",
): KeptInstallation | null {
  const manifest = manifestOf(files);
  const isLocal = Object.entries(localMarks).some(([name, mark]) => mark.test(files[name] ?? ""));
  if (line === null || isLocal || !isAlone(manifest) || Object.hasOwn(files, "bun.lockb")) return null;
  const { scripts, ...rest } = manifest;
  return {
    ecosystem: "npm",
    interpreter,
    files: { ...files, "package.json": JSON.stringify(rest) },
    line,
    kept,
    after: scriptLine(scripts),
  };
}

/** Relative to the work folder, as `toolVariables` has it. */
const yarnCache = "cache/yarn";
const versionForm = /^\d+(?:\.\d+){0,2}(?:-[\w.]+)?$/;

/** Bun, which is already in the image. */
const bun: Installer = {
  inputs: ["package.json", "bun.lock", "bun.lockb", "bunfig.toml", ".npmrc"],
  line: () => "bun install --frozen-lockfile",
  keep: (files) => keepNodeModules(files, bun.line(files), "bun"),
};

const npm: Installer = {
  inputs: ["package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"],
  line: () => "npm ci --no-audit --no-fund",
  keep: (files) => keepNodeModules(files, npm.line(files)),
};

/** pnpm, in the version that the project names, else one that reads its lockfile. Node no longer includes it. */
const pnpm: Installer = {
  inputs: ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs"],
  line: (files) => `${installTool(`pnpm@${pnpmVersion(files)}`)} && pnpm install --frozen-lockfile`,
  keep: (files) => keepNodeModules(files, pnpm.line(files)),
};

/** Yarn: its two generations cannot read each other's lockfiles. */
const yarn: Installer = {
  inputs: ["package.json", "yarn.lock", ".yarnrc", ".yarnrc.yml", ".npmrc"],
  line: (files) =>
    isBerry(files)
      ? `${installTool(`@yarnpkg/cli-dist@${berryVersion(files)}`)} && yarn install --immutable`
      : `${installTool(`yarn@${namedVersion(files, "yarn") ?? "1"}`)} && ${ownRegistry}yarn install --frozen-lockfile --non-interactive --network-concurrency 4`,
  keep: (files) => {
    const set = keepNodeModules(files, yarn.line(files));
    // Its programs read packages from there, unless they are in `node_modules`.
    const isCacheRead = isBerry(files) && !/^nodeLinker:\s*["']?node-modules/m.test(files[".yarnrc.yml"] ?? "");
    return set !== null && isCacheRead ? { ...set, kept: [...set.kept, yarnCache] } : set;
  },
};

/** Yarn's lockfiles name its own registry, which is an alias of npm's. */
const ownRegistry =
  '{ [ -z "$npm_config_registry" ] || sed -i "s#https://[a-z.]*yarnpkg[a-z.]*/#$npm_config_registry#" yarn.lock; } && ';

/** Every installer. */
export const installers: Readonly<Record<InstallerName, Installer>> = {
  bun,
  pnpm,
  yarn,
  npm,
  uv,
  poetry,
  requirements,
  pyproject,
};

function table(value: unknown): Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

/** The strings of a list; one with a leading dash would be an option. */
function requirementsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string" && /^[^-\s\0][^\0\n]*$/.test(each))
    : [];
}

/**
 * Whether a line is empty, or a requirement by name with version and markers; not an option, path or URL. Part by part, as
 * a project writes the line: one pattern for all of it would backtrack.
 */
function isPlainRequirement(line: string): boolean {
  const words = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
  while (words.length > 1 && hash.test(words.at(-1) ?? "")) words.pop();
  const text = words.join(" ");
  if (text === "") return true;
  const semicolon = text.indexOf(";");
  if (semicolon !== -1 && text.includes("@", semicolon)) return false;
  const wanted = semicolon === -1 ? text : text.slice(0, semicolon);
  const name = /^[A-Za-z0-9][\w.-]*/.exec(wanted)?.[0];
  if (name === undefined) return false;
  const afterName = wanted.slice(name.length).trim();
  const version = afterName.slice(extras.exec(afterName)?.[0].length ?? 0).trim();
  return version === "" || versions.test(version);
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Whether a manifest is valid, and refers to no other files of its project. */
function isAlone(manifest: Readonly<Record<string, unknown>>): boolean {
  if (Object.keys(manifest).length === 0) return false;
  if ("workspaces" in manifest || "patchedDependencies" in manifest) return false;
  if (JSON.stringify(manifest["pnpm"] ?? null).includes("patchedDependencies")) return false;
  const versions = [...dependencyFields.map((field) => manifest[field]), manifest["overrides"], manifest["pnpm"]];
  return !versions.some(hasLocalVersion);
}

function hasLocalVersion(value: unknown): boolean {
  if (typeof value === "string") return localVersion.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasLocalVersion);
}

function scriptLine(scripts: unknown): string | null {
  const table = typeof scripts === "object" && scripts !== null ? (scripts as Readonly<Record<string, unknown>>) : {};
  const there = scriptNames.flatMap((name) => {
    const script = Object.hasOwn(table, name) ? table[name] : undefined;
    return typeof script === "string" && script.trim() !== "" && !script.includes("\0") ? [{ name, script }] : [];
  });
  if (there.length === 0) return null;
  // Run directly, because a script runner would set its own name as the installer's.
  const runs = there.map(({ name, script }) => `npm_lifecycle_event=${name} sh -c ${shellQuoted(script)}`);
  return `PATH="$PWD/node_modules/.bin:$PATH" && export PATH && ${runs.join(" && ")}`;
}

function installTool(spec: string): string {
  return `npm install --global --no-audit --no-fund ${spec}`;
}

function pnpmVersion(files: InputFiles): string {
  const lock = /^lockfileVersion:\s*['"]?(\d+)/m.exec(files["pnpm-lock.yaml"] ?? "")?.[1];
  const byLock: Readonly<Record<string, string>> = { "5": "7", "6": "8" };
  return namedVersion(files, "pnpm") ?? byLock[lock ?? ""] ?? "10";
}

function isBerry(files: InputFiles): boolean {
  return /^__metadata:/m.test(files["yarn.lock"] ?? "");
}

function berryVersion(files: InputFiles): string {
  const byPath = /^yarnPath:.{0,400}\byarn-(\d[\w.-]{0,40})\.c?js/m.exec(files[".yarnrc.yml"] ?? "")?.[1];
  return namedVersion(files, "yarn") ?? (byPath !== undefined && versionForm.test(byPath) ? byPath : "4");
}

/** From `packageManager` in `package.json`, without its hash; null if it names another tool, or none. */
function namedVersion(files: InputFiles, tool: string): string | null {
  const named = manifestOf(files)["packageManager"];
  const [name, version = ""] = typeof named === "string" ? named.split("+", 1).join("").split("@") : [];
  return name === tool && versionForm.test(version) ? version : null;
}
