import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { engines, places, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { runCommand } from "../helpers/run-command.ts";
import { sessionImages } from "../helpers/test-images.ts";

const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": "module.exports = 'tiny';\n" } });
registry.addNpm({ name: "@gb/scoped", version: "2.0.0", files: { "part.js": "module.exports = 'part';\n" } });
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel.py": "name = 'wheel'\n" } });
for (const [version, word] of Object.entries({ "1.0.0": "one", "2.0.0": "two" })) {
  registry.addNpm({ name: "gb-two", version, files: { "index.js": `module.exports = '${word}';\n` } });
}
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", directory]);
});

describe.each(engines)('packages: "auto" on %s', (engine) => {
  const settings = { images: sessionImages, network: registry.network, packages: { directory } };
  const glovebox = useGlovebox(engine, { settings });

  it("are those that the code and its files import", async () => {
    const response = await glovebox().execute({
      language: "typescript",
      packages: "auto",
      code: 'import tiny from "gb-tiny";\nimport { part } from "./part.ts";\nimport fs from "node:fs";\nconsole.log(tiny, part, typeof fs);',
      context_files: [{ path: "part.ts", content: 'import part from "@gb/scoped/part.js";\nexport { part };' }],
    });
    expect(response.stdout, response.stderr).toBe("tiny part object\n");
    expect(response.packages_installed).toEqual(["@gb/scoped@2.0.0", "gb-tiny@1.0.0"]);
  });

  it.each(["javascript", "typescript"] as const)(
    "are those of npm: specifiers, in their versions, in %s",
    async (language) => {
      const code =
        'import part from "npm:@gb/scoped@2.0.0/part.js";\nimport two from "npm:gb-two@1.0.0";\nconsole.log(part, two);';
      const answers = await Promise.all([
        glovebox().execute({ language, packages: "auto", code }),
        glovebox().runCode({ language, code }),
      ]);
      for (const { stdout, stderr, packages_installed } of answers) {
        expect(stdout, stderr).toBe("part one\n");
        expect(packages_installed).toEqual(["@gb/scoped@2.0.0", "gb-two@1.0.0"]);
      }
      const without = await glovebox().execute({ language, packages: [], code });
      expect(without.error).toMatchObject({
        error_type: "NOT_FOUND",
        message: expect.stringContaining("@gb/scoped"),
        suggestion: expect.stringContaining('packages: "auto"'),
      });
    },
  );

  it("are Python's, too, and none where none are imported", async () => {
    const python = { language: "python", packages: "auto" } as const;
    const response = await glovebox().execute({ ...python, code: "import json, gb_wheel\nprint(gb_wheel.name)" });
    expect(response.stdout, response.stderr).toBe("wheel\n");
    const plain = await glovebox().execute({ ...python, code: "import json\nprint(1)" });
    expect(plain.stdout).toBe("1\n");
    expect(plain.packages_installed).toBeUndefined();
  });

  it("are optional under a condition: one that is not to be had fails no run, and is not asked for again", async () => {
    const code =
      "import gb_wheel\ntry:\n  import gb_nope\nexcept ImportError:\n  gb_nope = None\nprint(gb_wheel.name, gb_nope)";
    const warnings: unknown = expect.arrayContaining([expect.stringContaining("Without gb-nope,")]);
    const python = { language: "python", packages: "auto", code } as const;
    const expected = { outcome: "completed", stdout: "wheel None\n", warnings };
    expect(await glovebox().execute(python)).toMatchObject(expected);
    const inSession =
      "let nope = null; try { nope = require('gb-nope') } catch {}\nconsole.log(require('gb-tiny'), nope)";
    const call = await glovebox().runCode({ language: "javascript", code: inSession });
    expect(call).toMatchObject({ outcome: "completed", stdout: "tiny null\n", warnings });
    registry.forget();
    expect(await glovebox().execute(python)).toMatchObject(expected);
    expect(registry.requests).toEqual([]);
    const missing = await glovebox().execute({ ...python, code: "def f(): import gb_nope\nf()" });
    expect(missing).toMatchObject({ outcome: "failed", error: { error_type: "NOT_FOUND" }, warnings });
    registry.isDown = true;
    onTestFinished(() => void (registry.isDown = false));
    const javascript = "try { require('gb-nowhere') } catch { console.log('without') }";
    const alone = { language: "javascript", packages: "auto", code: javascript } as const;
    expect(await glovebox().execute(alone)).toMatchObject({ outcome: "completed", stdout: "without\n" });
  });

  it("are not those that the image has", async () => {
    const name = "import importlib.metadata as m\nprint(next(d.metadata['Name'] for d in m.distributions()))";
    const own = await glovebox().execute({ language: "python", code: name, packages: [] });
    registry.forget();
    const code = `import ${own.stdout.trim().replaceAll(/[-.]/g, "_")}`;
    const answer = await glovebox().execute({ language: "python", packages: "auto", code });
    expect(answer.packages_installed).toBeUndefined();
    expect(registry.requests).toEqual([]);
  });

  it("join a live session: its sandbox, its background processes and what they import stay", async () => {
    const { processes } = glovebox();
    await glovebox().writeFile({ path: "kept.txt", content: "kept" });
    const former = await processes.start({ command: ["sh", "-c", "while :; do date >/work/growing; sleep 1; done"] });
    const code = 'import tiny from "gb-tiny";\nconsole.log(tiny, await Bun.file("/work/kept.txt").text());';
    const call = await glovebox().runCode({ language: "javascript", code });
    expect(call).toMatchObject({ stdout: "tiny kept\n", restarted: false, session_id: former.session_id });
    registry.forget();
    const more = `import part from "@gb/scoped/part.js";\nconsole.log(part);\n${code}`;
    const second = await glovebox().runCode({ language: "javascript", code: more });
    expect(second).toMatchObject({ stdout: "part\ntiny kept\n", restarted: false, container_id: call.container_id });
    expect(registry.downloads("gb-tiny")).toBe(0);
    expect((await processes.list()).processes).toMatchObject([{ state: "running" }]);
    const { process_id } = await processes.start({ command: ["bun", "-e", more] });
    await expect
      .poll(async () => (await processes.list({ process_id })).processes)
      .toMatchObject([{ state: "exited", exit_code: 0, stdout: { text: "part\ntiny kept\n" } }]);
  });

  it("join a live interpreter that keeps variables, in the sandbox that it has", async () => {
    await glovebox().endSession({});
    const keep = { language: "javascript", keep_variables: true } as const;
    const first = await glovebox().runCode({ ...keep, code: "import tiny from 'gb-tiny'; tiny" });
    expect(first).toMatchObject({ displays: [{ content: "'tiny'" }] });
    const second = await glovebox().runCode({ ...keep, code: "import part from '@gb/scoped/part.js'; tiny + part" });
    expect(second).toMatchObject({ displays: [{ content: "'tinypart'" }], container_id: first.container_id });
    await glovebox().endSession({});
  });

  it("give a session another sandbox where a version takes the place of another one", async () => {
    const older = { language: "javascript", code: 'console.log(require("gb-two"))' } as const;
    const first = await glovebox().runCode({ ...older, packages: ["gb-two@1.0.0"] });
    expect(first).toMatchObject({ stdout: "one\n", restarted: false });
    const second = await glovebox().runCode({ ...older, packages: ["gb-two@2.0.0"] });
    expect(second).toMatchObject({ stdout: "two\n", restarted: true, packages_installed: ["gb-two@2.0.0"] });
    expect(second.warnings?.join()).toContain("background processes have ended");
  });
});

describe.each(places)("the packages of a session on $name", ({ engine, runtime }) => {
  const settings = { images: sessionImages, network: registry.network, packages: { directory } };
  const glovebox = useGlovebox(engine, { settings }, runtime);

  it("are those that its calls import, linked into its sandbox", async () => {
    const first = await glovebox().runCode({
      ...runtime,
      code: 'import tiny from "gb-tiny";\nawait Bun.write("deep/kept.txt", "kept");\nconsole.log(tiny as string);',
    });
    expect(first.stdout, first.stderr).toBe("tiny\n");
    expect(first).toMatchObject({ packages_installed: ["gb-tiny@1.0.0"], restarted: false });
    const second = await glovebox().runCode({
      code: 'import part from "@gb/scoped/part.js";\nimport tiny from "gb-tiny";\nconsole.log(part, tiny, await Bun.file("deep/kept.txt").text());',
    });
    expect(second.stdout, second.stderr).toBe("part tiny kept\n");
    expect(second).toMatchObject({ restarted: false, container_id: first.container_id });
    const late = await glovebox().runCode({ code: "for (;;);", timeout_seconds: 1 });
    expect(late.outcome).toBe("timed_out");
    const third = await glovebox().runCode({ code: 'import tiny from "gb-tiny"; console.log(tiny)' });
    expect(third).toMatchObject({ stdout: "tiny\n", restarted: false, container_id: second.container_id });
  });
});

describe("packages where a request names none", () => {
  const { private_hosts: hosts, dns_servers: servers } = registry.network;
  const environment = {
    GLOVEBOX_PACKAGES_DIR: directory,
    GLOVEBOX_NETWORK_PRIVATE_HOSTS: hosts.join(","),
    GLOVEBOX_NETWORK_DNS_SERVERS: servers.join(","),
  };
  const needing = "console.log(require('gb-tiny'))";
  const plain = "console.log(require('node:path').sep)";
  const glovebox = useGlovebox("local", { settings: { network: registry.network, packages: { directory } } });

  it("are those that it imports over MCP and on the command line, and none in the library", async () => {
    const run = (...argv: readonly string[]) =>
      runCommand(["run", "--engine", "local", "--language", "js", ...argv], {
        environment: environment,
      });
    expect(await run("-c", needing)).toMatchObject({ exitCode: 0, stdout: "tiny\n" });
    const without = await run("--packages", "none", "-c", needing);
    expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("package gb-tiny") });
    const request = { language: "javascript", code: needing } as const;
    expect(await glovebox().execute(request)).toMatchObject({ outcome: "failed", error: { error_type: "NOT_FOUND" } });
    const agent = await connectMcp(revisions[1], ["--engine", "local"], environment);
    onTestFinished(() => agent.client.close());
    expect((await agent.call("execute_code", request)).structuredContent).toMatchObject({ stdout: "tiny\n" });
    const none = await agent.call("execute_code", { ...request, packages: [] });
    expect(none.structuredContent).toMatchObject({ outcome: "failed", error: { error_type: "NOT_FOUND" } });
    registry.forget();
    registry.isDown = true;
    onTestFinished(() => void (registry.isDown = false));
    const builtIn = await agent.call("execute_code", { ...request, code: plain });
    expect(builtIn.structuredContent).toMatchObject({ outcome: "completed", stdout: "/\n" });
    expect(await run("-c", plain)).toMatchObject({ exitCode: 0, stdout: "/\n" });
    expect(registry.requests).toEqual([]);
    const unreachable = await run("-c", "require('gb-nowhere')");
    expect(unreachable).toMatchObject({
      exitCode: 125,
      stderr: expect.stringMatching(/registry could not be reached[^]*use --packages none\./),
    });
  });
});
