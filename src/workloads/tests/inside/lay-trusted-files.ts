import type { CallOptions } from "../../../engines/engine.ts";
import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import type { CheckedContextFile } from "../../../policy/request/context-files.ts";
import { runSandboxCommand } from "../../../sandbox/sandbox-command.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import { copyFolder } from "../../project/copy-project.ts";

/** What runners and interpreters load by themselves, or take for themselves, from a folder of tests or one above it. */
const planted: readonly string[] = [
  ...["conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py", "usercustomize.py"],
  ...["pytest.py", "pytest", "_pytest", "pluggy", "bunfig.toml"],
  // What stands in the place of a module of Python itself, and settings that npm gives to every program that it starts.
  ...["unittest.py", "unittest/__init__.py", ".npmrc"],
  ...["js", "cjs", "mjs", "json", "ts", "cts"].map((ending) => `babel.config.${ending}`),
  ...["", ".js", ".cjs", ".mjs", ".json"].map((ending) => `.babelrc${ending}`),
  ...["js", "mjs", "ts", "json"].map((ending) => `vitest.workspace.${ending}`),
  ...["glovebox_report.py", "glovebox_start.py", "glovebox_unittest.py", "glovebox_writer.py"],
  ...["js", "cjs", "mjs", "json", "jsonc", "yaml", "yml"].map((ending) => `.mocharc.${ending}`),
  ...["jest", "vitest", "vite"].flatMap((name) =>
    ["js", "cjs", "mjs", "ts", "cts", "mts", "json"].map((ending) => `${name}.config.${ending}`),
  ),
];

const removeMs = 60_000;
/** Paths that one command is given, and that all trusted files may come to. */
const maxAtOnce = 1_000;
const maxPaths = 20_000;

/** Files and folders of the project that go before trusted files are laid: none of those themselves. */
export function plantedBeside(trusted: readonly string[]): readonly string[] {
  const folders = new Set(trusted.flatMap(foldersAbove));
  const own = new Set([...trusted, ...folders]);
  return [...folders]
    .flatMap((folder) => planted.map((name) => (folder === "" ? name : `${folder}/${name}`)))
    .filter((path) => !own.has(path));
}

function foldersAbove(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/**
 * Lays trusted files over the project's copy, while nothing of the project runs, and removes configuration that was
 * planted beside them. @throws UNSUPPORTED when that cannot be removed, INVALID_REQUEST for too many folders, and what `SandboxFiles.writeTree` throws
 */
export async function layTrustedFiles(
  sandbox: Sandbox,
  trusted: readonly CheckedContextFile[],
  { signal }: CallOptions,
): Promise<void> {
  if (trusted.length === 0) return;
  const own = trusted.map(({ path }) => path);
  const paths = [...plantedBeside(own), ...own].map((path) => `${copyFolder}/${path}`);
  if (paths.length > maxPaths) {
    throw invalidField("trusted_files", "files in fewer folders", `${new Set(own.flatMap(foldersAbove)).size} folders`);
  }
  for (let at = 0; at < paths.length; at += maxAtOnce) {
    const command = ["rm", "-rf", "--", ...paths.slice(at, at + maxAtOnce)];
    const limits = { maxOutputBytes: 64, timeLimitMs: removeMs };
    const { exitCode } = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
    if (exitCode !== 0) throw notRemoved();
  }
  for (const { path, content } of trusted) await sandbox.files.write(`${copyFolder}/${path}`, content, { signal });
}

function notRemoved(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "Configuration beside the trusted files could not be removed.", {
    suggestion: "Use an image with `rm`, and let the set-up leave folders that their owner can write to.",
    context: { field: "trusted_files" },
  });
}
