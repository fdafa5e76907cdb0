import { shellQuoted } from "../../../base/processes/shell-quoted.ts";
import type { InputFiles, KeptInstallation } from "./installer.ts";
import { manifestOf } from "./manifest-of.ts";

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
