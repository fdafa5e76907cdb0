import { readdir } from "node:fs/promises";
import { invalidField } from "../../errors/glovebox-error.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { readManifest, readOwnText, scriptRunner } from "../project/own-files.ts";
import { readProject } from "../project/read-project.ts";

/** A command that runs a project's tests, and what in the project says so. */
interface FoundTests {
  readonly command: string;
  /** Ends a sentence: "package.json has a script `test`". */
  readonly why: string;
}

/** What the choice is made of; texts are empty where a file is missing. */
interface ProjectFacts {
  /** Names in the project's folder. */
  readonly names: readonly string[];
  /** `package.json`. */
  readonly manifest: string;
  /** Files that configure Python's runners, and those that tell what they need, in one text. */
  readonly pythonSettings: string;
  /** Test files of Python, each with its path. */
  readonly pythonTests: readonly { readonly path: string; readonly text: string }[];
  readonly makefile: string;
}

const settingsFiles = ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"];
const testFolders = ["tests", "test"];
/** Test files that are read to tell pytest from unittest. */
const maxTests = 20;

/** Looks for the command that runs a project's tests (SPEC TE9). @throws INVALID_REQUEST that names what would be found */
export async function findTests(
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<FoundTests> {
  const { names, manifest } = await readProject(project, platform);
  await using folder = await HostFolder.of(project, platform);
  const read = async (name: string): Promise<string> => (names.includes(name) ? readOwnText(folder, name) : "");
  const pythonSettings = (await Promise.all(settingsFiles.map(read))).join("\n");
  const facts = { names, manifest, pythonSettings, makefile: await read("Makefile") };
  const found = chooseTests({ ...facts, pythonTests: await readTests(folder, names) });
  if (found !== null) return found;
  throw invalidField(
    "test_command",
    "a command, since nothing in the project says how its tests are run (a script `test` in package.json, go.mod, Cargo.toml, pytest's settings, files such as test_*.py or *.test.js, or a target `test` in a Makefile would)",
    "nothing",
  );
}

/** Chooses by what the project says most clearly: its own script before a runner's settings, and those before bare files. */
function chooseTests(facts: ProjectFacts): FoundTests | null {
  return byManifest(facts) ?? byToolchain(facts) ?? byPython(facts) ?? byFiles(facts) ?? byMakefile(facts);
}

const javascriptRunners = [
  ["vitest", "npx vitest run"],
  ["jest", "npx jest"],
  ["mocha", "npx mocha"],
] as const;

function byManifest({ manifest, names }: ProjectFacts): FoundTests | null {
  const { scripts, dependencies } = readManifest(manifest);
  const script = scripts["test"];
  // What `npm init` writes runs nothing.
  if (script !== undefined && !script.includes("no test specified")) {
    const runner = scriptRunner(names);
    return {
      command: `${runner === "bun run" ? runner : runner.replace(" run", "")} test`,
      why: `package.json has a script \`test\`: ${script.slice(0, 200)}`,
    };
  }
  const runner = javascriptRunners.find(([name]) => dependencies.includes(name));
  return runner === undefined ? null : { command: runner[1], why: `package.json depends on ${runner[0]}` };
}

function byToolchain({ names }: ProjectFacts): FoundTests | null {
  if (names.includes("go.mod")) return { command: "go test ./...", why: "there is a go.mod" };
  return names.includes("Cargo.toml") ? { command: "cargo test", why: "there is a Cargo.toml" } : null;
}

function byPython({ names, pythonSettings, pythonTests }: ProjectFacts): FoundTests | null {
  const pytest = (why: string): FoundTests => ({ command: "python3 -m pytest", why });
  const file = ["pytest.ini", ".pytest.ini", "conftest.py"].find((name) => names.includes(name));
  if (file !== undefined) return pytest(`there is a ${file}`);
  if (/\bpytest\b/.test(pythonSettings)) return pytest("the project's settings or requirements name pytest");
  const own = pythonTests.find(
    ({ text }) => /^(?:import|from) pytest\b/m.test(text) || /^(?:async )?def test_/m.test(text),
  );
  if (own !== undefined) return pytest(`${own.path} has tests of pytest`);
  const first = pythonTests.find(({ text }) => /\bunittest\b/.test(text));
  if (first === undefined) return null;
  const folder = first.path.includes("/") ? ` discover -s ${first.path.split("/", 1)[0]}` : "";
  return { command: `python3 -m unittest${folder}`, why: `${first.path} has tests of unittest` };
}

function byFiles({ names }: ProjectFacts): FoundTests | null {
  const file = names.find((name) => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(name));
  const isBun = names.some((name) => /^bun\.lockb?$|^bunfig\.toml$/.test(name));
  if (isBun) return { command: "bun test", why: "the project is one of Bun" };
  return file === undefined ? null : { command: "node --test", why: `there is a ${file}` };
}

function byMakefile({ makefile }: ProjectFacts): FoundTests | null {
  return /^test\s*:(?!=)/m.test(makefile) ? { command: "make test", why: "the Makefile has a target `test`" } : null;
}

async function readTests(folder: HostFolder, names: readonly string[]): Promise<ProjectFacts["pythonTests"]> {
  const found: { readonly path: string; readonly text: string }[] = [];
  const add = async (within: HostFolder, files: readonly string[], prefix: string): Promise<void> => {
    for (const name of files
      .filter((each) => /^test.*\.py$|_test\.py$/.test(each))
      .toSorted()
      .slice(0, maxTests))
      found.push({ path: `${prefix}${name}`, text: await readOwnText(within, name) });
  };
  await add(folder, names, "");
  for (const name of testFolders.filter((each) => names.includes(each))) {
    const below = await folder.enter(name).catch(() => null);
    if (below === null) continue;
    await using opened = below;
    await add(opened, await onHost(name, readdir(opened.self)), `${name}/`);
  }
  return found;
}
