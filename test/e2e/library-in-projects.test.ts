import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { isRequired } from "../helpers/require.ts";
import { installNodes, nodeIn, nodeVersions } from "../package/node-versions.ts";
import { PackedPackage } from "../package/packed-package.ts";

/** Without the types of Node or of any other package, like a new project. */
const packed = new PackedPackage();
const nodes = mkdtempSync(path.join(tmpdir(), "glovebox-nodes-"));
afterAll(() => {
  packed[Symbol.dispose]();
  rmSync(nodes, { recursive: true, force: true });
});

const strict = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  skipLibCheck: false,
  types: [],
  target: "es2022",
};

/** What `tsc` says about a project with these files; "" if it is correct. */
function compile(files: Readonly<Record<string, string>>, compilerOptions: object): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(packed.consumer, name), text);
  const config = { compilerOptions: { ...strict, ...compilerOptions }, files: Object.keys(files) };
  writeFileSync(path.join(packed.consumer, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(projectFolder, "node_modules/typescript/bin/tsc");
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", ".", "--pretty", "false"], {
    cwd: packed.consumer,
    encoding: "utf8",
  });
  return stdout + stderr;
}

const body = `
export async function use(): Promise<void> {
  const options: GloveboxOptions = { engine: "local", settings: { log_level: "error", queue: { limit: 5 } } };
  const glovebox: Glovebox = await createGlovebox(options);
  try {
    const limits = { memoryMb: 256, timeoutSeconds: 20 };
    const run = glovebox.execute({ language: "python", code: "print(6 * 7)", limits }, { throwOnError: true });
    let text = "";
    for await (const chunk of run) text += chunk.text;
    const { ok, outcome, exitCode }: Result<ExecuteResult> = await run;
    console.log(ok, outcome, exitCode, text.trim());
  } catch (error) {
    if (error instanceof GloveboxError) console.log(error.errorType, error.suggestion);
    throw error;
  } finally {
    await glovebox.close();
  }
  const refused = await createGlovebox({ settings: { max_containers: 0 } }).catch((error: unknown) => error);
  console.log(refused instanceof GloveboxError && refused.message);
}
void use();
`;
const types = "type ExecuteResult, type Glovebox, type GloveboxOptions, type Result";
const right = {
  "use.ts": `import { createGlovebox, GloveboxError, ${types} } from "glovebox";
import { connect } from "glovebox/client";
export const remote: Glovebox = connect({ url: "http://127.0.0.1:1" });
${body}`,
  "use.cts": `import library = require("glovebox");
import type { ${types.replaceAll("type ", "")} } from "glovebox" with { "resolution-mode": "import" };
const { createGlovebox, GloveboxError } = library;
${body}`,
};

/** Settings of a project that knows neither browsers nor Node. */
const bare = {
  "bare.ts": `import { connect, createGlovebox } from "glovebox";
export async function use(): Promise<number | null> {
  await using glovebox = await createGlovebox();
  await using session = await glovebox.sessions.open({ limits: { cpus: 1 } });
  await using environment = await connect({ url: "" }).environments.create({ image: "node:24-slim" });
  const { stdoutTail } = await environment.run(["npm", "test"]);
  return (await session.run(stdoutTail)).exitCode;
}
`,
};

const mistakes: Readonly<Record<string, string>> = {
  "limits that are no object": `glovebox.execute({ language: "python", code: "", limits: "lots" })`,
  "a limit by the wire's name": `glovebox.execute({ language: "python", code: "", limits: { memory_mb: 1 } })`,
  "a limit as text": `glovebox.execute({ language: "python", code: "", limits: { cpus: "2" } })`,
  "a language that does not exist": `glovebox.execute({ language: "cobol", code: "" })`,
  "no code": `glovebox.execute({ language: "python" })`,
  "an option that does not exist": `glovebox.execute({ language: "python", code: "", timeout: 5 })`,
  "a number as a variable": `glovebox.execute({ language: "python", code: "", environment: { A: 1 } })`,
  "an isolation that does not exist": `glovebox.sessions.open({ minIsolation: "iron" })`,
  "a command as a number": `glovebox.environments.get("e").run(5)`,
  "a port as text": `glovebox.environments.get("e").processes.start({ command: ["a"], ports: ["80"] })`,
  "a preview's port as text": `glovebox.previews.start({ projectPath: ".", command: "npm start", port: "80" })`,
  "a test run without a project": `glovebox.tests.run({ testCommand: "npm test" })`,
  "a report that does not exist": `glovebox.tests.run({ projectPath: ".", testCommand: "a", reports: ["xml"] })`,
  "an agent without a prompt": `glovebox.agents.run({ group: "a" })`,
  "a signal that does not exist": `glovebox.sessions.get("s").processes.get("p").stop({ signal: "SIGNOTHING" })`,
  "a stream that does not exist": `glovebox.sandboxes.get("s").logs({ stream: "stdin" })`,
  "a kind of alert that does not exist": `glovebox.sandboxes.alerts({ kind: "noise" })`,
  "an engine that does not exist": `createGlovebox({ engine: "dokcer" })`,
  "a setting that does not exist": `createGlovebox({ settings: { max_container: 5 } })`,
  "a setting of another type": `createGlovebox({ settings: { max_containers: "many" } })`,
  "a logger that is none": `createGlovebox({ logger: { log() {} } })`,
  "a field that results do not have": `glovebox.execute({ language: "python", code: "" }).then((run) => run.exit_code)`,
  "a server without a URL": `connect({ key: "k" })`,
};

describe("the packed library in a strict project", () => {
  it.each([
    ["nodenext", { module: "nodenext", noEmit: true }, right],
    ["bundler", { module: "preserve", moduleResolution: "bundler", noEmit: true }, right],
    ["nodenext, of ES alone", { module: "nodenext", noEmit: true, lib: ["es2022"] }, bare],
    ["bundler, of ES alone", { module: "esnext", moduleResolution: "bundler", noEmit: true, lib: ["es2022"] }, bare],
  ])("compiles: %s", (_, options, files) => {
    expect(compile(files, options)).toBe("");
  });

  it("does not compile with a wrong input, each named", () => {
    const calls = Object.entries(mistakes).map(([name, call]) => `// @ts-expect-error: ${name}\nvoid ${call};\n`);
    const head = `import { connect, createGlovebox } from "glovebox";\nconst glovebox = await createGlovebox();\n`;
    const options = { module: "nodenext", noEmit: true };
    expect(compile({ "wrong.ts": head + calls.join("") }, options)).toBe("");
    const unmarked = calls.map((call) => call.replace("@ts-expect-error", ""));
    const said = compile({ "wrong.ts": head + unmarked.join("") }, options);
    expect(said.match(/^wrong\.ts\(\d+/gm)).toHaveLength(calls.length);
  });

  it("describes each option, result and setting in the editor", () => {
    const generated = path.join(packed.folder, "dist/library/objects/generated");
    const said = ["options.d.ts", "settings.d.ts"].map((name) => readFileSync(path.join(generated, name), "utf8"));
    expect(said[0]).toMatch(/\/\*\* Memory in MiB, without swap\. \*\/\s+readonly memoryMb\?: number \| undefined;/);
    expect(said[1]).toMatch(/\/\*\* Minimum severity of log entries.*Default: `"warn"`\. \*\/\s+readonly log_level\?:/);
  });
});

describe("the packed library runs", () => {
  useGlovebox("local");
  const answer =
    "true completed 0 42\n" +
    "Configuration: max_containers (option settings.max_containers): expected a whole number of sandboxes from 1 to 10000, got 0.\n";
  const start = (program: string, ...files: readonly string[]): string =>
    execFileSync(program, files, {
      cwd: packed.consumer,
      encoding: "utf8",
      env: { ...process.env, HOME: nodes },
      // While it waits for the program, no other time limit of the tests works.
      timeout: 100_000,
    });

  const problem = installNodes(nodes);
  it.for(nodeVersions)("imported and required by Node %i, without a warning", (version, { skip }) => {
    if (problem !== null) {
      // If tests are mandatory, so is the registry that the checkout itself was installed from.
      if (isRequired("local")) throw new Error(problem);
      skip(problem);
    }
    expect(compile(right, { module: "nodenext", outDir: "out" })).toBe("");
    const node = nodeIn(nodes, version);
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`^v${version}\\.`));
    expect(start(node, "--throw-deprecation", "out/use.js")).toBe(answer);
    expect(start(node, "out/use.cjs")).toBe(answer);
  });

  it("in a bundle of esbuild, which leaves it outside", () => {
    const bundle = ["--bundle", "--platform=node", "--format=esm", "--external:glovebox", "--outfile=bundle.mjs"];
    writeFileSync(path.join(packed.consumer, "use.ts"), right["use.ts"]);
    start(path.join(projectFolder, "node_modules/.bin/esbuild"), "use.ts", ...bundle, "--log-level=error");
    expect(start(process.execPath, "bundle.mjs")).toBe(answer);
  });

  it("as a client within a bundle for browsers", () => {
    const text = `import { connect } from "glovebox/client";\nconsole.log(typeof connect({ url: "http://a" }).execute);`;
    writeFileSync(path.join(packed.consumer, "page.ts"), text);
    const bundle = ["--bundle", "--platform=browser", "--format=esm", "--outfile=page.mjs", "--log-level=warning"];
    start(path.join(projectFolder, "node_modules/.bin/esbuild"), "page.ts", ...bundle);
    rmSync(packed.folder, { recursive: true });
    expect(start(process.execPath, "page.mjs")).toBe("function\n");
  });
});
