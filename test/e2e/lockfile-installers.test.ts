import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readRegistrySettings } from "../../src/egress/registry-settings.ts";
import { createGlovebox, type Glovebox } from "../helpers/wire-glovebox.ts";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";

type Files = Readonly<Record<string, string>>;

/** A Glovebox with empty registries and the cache of the others. */
interface Elsewhere {
  readonly glovebox: Glovebox;
  readonly registry: PackageRegistry;
}

/** A tool whose lockfile determines what a project gets. */
interface Case {
  readonly name: string;
  readonly lockfile: string;
  /** Makes the lockfile, with a tool of the same generation as the one that reads it. */
  readonly lock: string;
  readonly files: Files;
  /** The same project after its manifest was changed but not its lockfile. */
  readonly changed: Files;
  readonly command: string;
  /** The command that ran in the installation phase. */
  readonly installs: RegExp;
  /** The tool's message for a lockfile that does not match its manifest. */
  readonly complains: RegExp;
}

const fault = npmRegistryFault();
const python = await pythonIndex();

interface PythonIndex {
  readonly url: string;
  /** Why it is not available; null if it answers. */
  readonly fault: string | null;
  /** Hosts of its files, with their ports. */
  readonly hosts: readonly string[];
}

/** The Python index of this machine, and the hosts of its files, which may have private addresses. */
async function pythonIndex(): Promise<PythonIndex> {
  const { registries } = await readRegistrySettings({ environment: process.env, platform: process.platform });
  const url = registries.find(({ kind }) => kind === "python")?.url ?? "";
  try {
    const page = await (await fetch(`${url.replace(/\/$/, "")}/iniconfig/`)).text();
    const hosts = [...page.matchAll(/https:\/\/([\w.-]+)\/[^"]*\.whl/g)].map(([, host]) => `${host}:443`);
    return { url, fault: null, hosts: [...new Set(hosts)] };
  } catch (error) {
    return { url, fault: `this machine's Python index does not answer (${String(error).slice(0, 80)})`, hosts: [] };
  }
}

const word = `const { test } = require("node:test");
test("digits", () => require("node:assert").ok(require("is-number")("7")));
test("letters", () => require("node:assert").ok(!require("is-number")("x")));
`;
const manifest = (version: string, more: object = {}): Files => ({
  "package.json": JSON.stringify({
    name: "p",
    version: "1.0.0",
    private: true,
    dependencies: { "is-number": version },
    ...more,
  }),
});
const node = { files: { ...manifest("7.0.0"), "word.test.js": word }, changed: manifest("6.0.0") };
const bunTest = word.replace("node:test", "bun:test");

const pytest = `import iniconfig
def test_reads(tmp_path):
    (tmp_path / "a.ini").write_text("[a]\\nb = 1\\n")
    assert iniconfig.IniConfig(tmp_path / "a.ini")["a"]["b"] == "1"
def test_two():
    assert iniconfig.__file__.startswith("/work/project/.venv/")
`;
const pyproject = (dependency: string, more: string): Files => ({
  "pyproject.toml": `[project]
name = "p"
version = "1"
requires-python = ">=3.10"
dependencies = ["${dependency}"]
${more}`,
});
const uvMore = '[dependency-groups]\ndev = ["pytest"]\n';
/** Named explicitly, because Poetry asks the default index through an interface that mirrors lack. */
const poetrySource = `[[tool.poetry.source]]\nname = "own"\nurl = "${python.url}"\npriority = "primary"\n`;
const poetryMore = `[tool.poetry]
package-mode = false
[tool.poetry.group.dev.dependencies]
pytest = "*"
${poetrySource}`;

const cases: readonly Case[] = [
  {
    ...{ name: "pnpm", lockfile: "pnpm-lock.yaml", command: "pnpm exec node --test", ...node },
    lock: "npm install --global pnpm@10 && pnpm install --lockfile-only",
    installs: /pnpm install --frozen-lockfile/,
    complains: /ERR_PNPM_OUTDATED_LOCKFILE/,
  },
  {
    ...{ name: "Yarn 1", lockfile: "yarn.lock", command: "yarn --silent node --test", ...node },
    lock: "npm install --global yarn@1 && yarn install",
    installs: /yarn install --frozen-lockfile/,
    complains: /lockfile needs to be updated/,
  },
  {
    ...{ name: "Yarn 4", lockfile: "yarn.lock", command: "yarn node --test", ...node },
    lock: "npm install --global @yarnpkg/cli-dist@4 && touch yarn.lock && yarn install",
    installs: /yarn install --immutable/,
    complains: /lockfile would have been modified/,
  },
  {
    ...{ name: "bun", lockfile: "bun.lock", command: "bun test", changed: manifest("6.0.0") },
    files: { ...manifest("7.0.0"), "word.test.js": bunTest },
    lock: "bun install --lockfile-only",
    installs: /bun install --frozen-lockfile/,
    complains: /lockfile had changes/,
  },
  {
    ...{ name: "uv", lockfile: "uv.lock", command: "uv run pytest" },
    files: { ...pyproject("iniconfig==2.0.0", uvMore), "test_ini.py": pytest },
    changed: pyproject("iniconfig==1.1.1", uvMore),
    lock: "python3 -m pip install uv && uv lock",
    installs: /uv sync --locked/,
    complains: /lockfile at `uv\.lock` needs to be updated/,
  },
  {
    ...{ name: "Poetry", lockfile: "poetry.lock", command: "poetry run pytest" },
    files: { ...pyproject("iniconfig==2.0.0", poetryMore), "test_ini.py": pytest },
    changed: pyproject("iniconfig==1.1.1", poetryMore),
    lock: "python3 -m pip install poetry && poetry lock",
    installs: /poetry install/,
    complains: /poetry\.lock was last generated/,
  },
];

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-lockfiles-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]));

describe.each(["docker"] as const)("dependencies that a lockfile names, on %s", (engine) => {
  const settings = {
    images: sessionImages,
    packages: { directory: path.join(folder, "cache") },
    network: { private_hosts: [...python.hosts] },
  };
  const options = { workingDirectory: folder, settings };
  const glovebox = useGlovebox(engine, options);

  let elsewhere: Elsewhere | undefined;
  /** Opened after the first installation, because it points this process to its registries. */
  const openElsewhere = async (): Promise<Elsewhere> => {
    if (elsewhere !== undefined) return elsewhere;
    const registry = await PackageRegistry.start();
    const network = registry.network;
    elsewhere = {
      registry,
      glovebox: await createGlovebox({ engine, ...options, settings: { ...settings, network } }),
    };
    return elsewhere;
  };
  afterAll(async () => {
    await elsewhere?.glovebox.close();
    elsewhere?.registry[Symbol.dispose]();
  });

  const projectOf = (files: Files): string => {
    const project = path.join(folder, "project");
    rmSync(project, { recursive: true, force: true });
    mkdirSync(project);
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(project, name), text);
    return project;
  };

  it.for(cases)(
    "are installed by $name, stay for later runs, and must be its manifest's",
    { timeout: 600_000 },
    async ({ name, files, changed, lock, lockfile, command, installs, complains }, context) => {
      const missing = name === "uv" || name === "Poetry" ? python.fault : fault;
      if (missing !== null) return context.skip(missing);
      const made = await glovebox().test({
        project_path: projectOf(files),
        setup_command: lock,
        test_command: `cat ${lockfile}`,
      });
      expect(made.exit_code, made.reason).toBe(0);
      const locked = { ...files, [lockfile]: made.output };
      const first = await glovebox().test({ project_path: projectOf(locked), test_command: command });
      expect(first, first.output).toMatchObject({ verdict: "passed", counted_from: "report", passed: 2, failed: 0 });
      expect(first.setup_command).toMatch(installs);
      expect(readdirSync(path.join(folder, "project")).toSorted()).toEqual(Object.keys(locked).toSorted());
      const { glovebox: offline, registry } = await openElsewhere();
      registry.forget();
      const again = await offline.test({ project_path: projectOf(locked), test_command: command });
      expect(again, again.output).toMatchObject({ verdict: "passed", passed: 2, setup_command: first.setup_command });
      expect(registry.requests).toEqual([]);
      const other = await glovebox().test({
        project_path: projectOf({ ...locked, ...changed }),
        test_command: command,
      });
      expect(other, other.output).toMatchObject({ verdict: "could_not_run", counted: false, passed: null });
      expect(other.output).toMatch(complains);
    },
  );
});
