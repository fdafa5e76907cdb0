import type { InputFiles, Installer } from "./installer.ts";
import { keepNodeModules } from "./keep-node-modules.ts";
import { manifestOf } from "./manifest-of.ts";

/** Relative to the work folder, as `toolVariables` has it. */
const yarnCache = "cache/yarn";
const versionForm = /^\d+(?:\.\d+){0,2}(?:-[\w.]+)?$/;

/** Bun, which is already in the image. */
export const bun: Installer = {
  inputs: ["package.json", "bun.lock", "bun.lockb", "bunfig.toml", ".npmrc"],
  line: () => "bun install --frozen-lockfile",
  keep: (files) => keepNodeModules(files, bun.line(files), "bun"),
};

export const npm: Installer = {
  inputs: ["package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"],
  line: () => "npm ci --no-audit --no-fund",
  keep: (files) => keepNodeModules(files, npm.line(files)),
};

/** pnpm, in the version that the project names, else one that reads its lockfile. Node no longer includes it. */
export const pnpm: Installer = {
  inputs: ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs"],
  line: (files) => `${installTool(`pnpm@${pnpmVersion(files)}`)} && pnpm install --frozen-lockfile`,
  keep: (files) => keepNodeModules(files, pnpm.line(files)),
};

/** Yarn: its two generations cannot read each other's lockfiles. */
export const yarn: Installer = {
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
