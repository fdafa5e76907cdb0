import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { failureOf } from "../helpers/failure-of.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { useCluster } from "./cluster-glovebox.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-kubernetes-"));
const scene = await openNetworkScene();
const registry = await PackageRegistry.start();
registry.addWheel({
  name: "gb_wheel",
  version: "1.0",
  files: { "gb_wheel/__init__.py": "answer = 42\n", "gb_wheel/deep/data.txt": "x".repeat(100_000) },
});
afterAll(() => {
  scene[Symbol.dispose]();
  registry[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

/** A project with these files, below the folder that requests may name. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(root, "project-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

describe("a cluster runs", () => {
  const glovebox = useCluster({ settings: { ...scene.settings, images: sessionImages, project_roots: [root] } });

  it("a program, with its input, files and artifacts", async () => {
    const code = "import sys\nopen('out.txt', 'w').write(open('in.txt').read() + sys.stdin.read())\nsys.exit(3)";
    const answer = await glovebox().execute({
      ...{ language: "python", code, stdin: "typed" },
      context_files: [{ path: "in.txt", content: "sent " }],
      artifacts: ["out.txt"],
    });
    expect(answer).toMatchObject({ outcome: "failed", exit_code: 3, engine: "kubernetes", isolation: "container" });
    expect(answer.artifacts).toMatchObject([{ path: "out.txt", content: "sent typed" }]);
  });

  it("a session, whose files and variables last", async () => {
    const { session_id } = await glovebox().openSession({ keep_variables: true });
    const run = (code: string) => glovebox().runCode({ session_id, language: "python", code });
    const first = await run("x = 20\nopen('kept', 'w').write('here')");
    const second = await run("print(open('kept').read(), x + 1)");
    expect(second).toMatchObject({ stdout: "here 21\n", restarted: false, container_id: first.container_id });
    await glovebox().endSession({ session_id });
  });

  it("a list of hosts, by the stream alone", async () => {
    const { webAt } = scene;
    const get = (network: string[] | "none") =>
      glovebox().execute({ language: "python", code: getProgram, args: [`http://${webAt}/`], network });
    expect(await get([webAt])).toMatchObject({ outcome: "completed", stdout: `hello from ${webAt}\n` });
    expect(await get(["elsewhere.test"])).toMatchObject({
      outcome: "policy_denied",
      error: { context: { denials: [{ target: webAt }] } },
    });
  });

  it("the tests of a project, on a copy of it", async () => {
    const files = {
      "test_a.py": "def test_a():\n    assert open('data').read() == 'x'\ndef test_b():\n    assert False\n",
    };
    const folder = project({ ...files, data: "x" });
    const answer = await glovebox().test({ project_path: folder, image: testImages.python });
    expect(answer).toMatchObject({ outcome: "failed", passed: 1, failed: 1 });
  });

  it("a preview, through the gateway of the server that holds the stream", async () => {
    const server = `
const http = require("node:http"), fs = require("node:fs");
http.createServer((_, response) => response.end(fs.readFileSync("page.txt", "utf8"))).listen(Number(process.env.PORT));`;
    const folder = project({ "server.js": server, "page.txt": "one" });
    const command = "node server.js";
    const started = await glovebox().previews.start({ project_path: folder, command, port: 4100, wait_seconds: 60 });
    const { container_id: id, direct_url: direct = "" } = started;
    expect(await (await fetch(direct)).text()).toBe("one");
    writeFileSync(path.join(folder, "page.txt"), "two");
    await until(async () => (await (await fetch(direct)).text()) === "two");
    await glovebox().previews.stop({ id });
    await expect(fetch(direct)).rejects.toThrow("fetch failed");
  });

  it("an environment with a root that cannot be changed, and says what a cluster lacks for others", async () => {
    const { environments } = glovebox();
    const image = testImages.python;
    await using made = await (async () => {
      const { env_id } = await environments.create({ image, read_only_root: true });
      return { env_id, [Symbol.asyncDispose]: async () => void (await environments.destroy({ env_id })) };
    })();
    const { env_id } = made;
    await glovebox().writeFile({ env_id, path: "a.txt", content: "written" });
    const answer = await environments.runCommand({
      env_id,
      command: ["sh", "-c", "cat a.txt; echo more > b.txt; id -u"],
    });
    expect(answer).toMatchObject({ outcome: "completed", stdout_tail: expect.stringMatching(/^written\d{10}\n$/) });
    expect(await glovebox().readFile({ env_id, path: "b.txt" })).toMatchObject({ content: "more\n" });
    const hosts = environments.create({ image, read_only_root: true, project_root: root });
    expect((await failureOf(hosts, "UNSUPPORTED")).suggestion).toMatch(/Leave project_root out/);
    const writable = await failureOf(environments.create({ image }), "UNSUPPORTED");
    expect(writable.suggestion).toMatch(/read_only_root/);
    const setup = environments.create({ image, read_only_root: true, setup_commands: [["apt-get", "install", "x"]] });
    expect((await failureOf(setup, "UNSUPPORTED")).suggestion).toMatch(/use an image that has what they would install/);
  });

  it("leaves no pod behind", async () => {
    const rows = await glovebox().sandboxes({ engine: "kubernetes" });
    expect(rows.filter(({ kind }) => kind !== "execute")).toEqual([]);
  });
});

describe("a cluster gives", () => {
  const packages = { directory: path.join(root, "packages") };
  const glovebox = useCluster({ settings: { network: registry.network, packages } });

  it("packages, which are copied into the pod and cannot be changed there", async () => {
    const code = `
import gb_wheel, os
print(gb_wheel.answer, len(open(os.path.dirname(gb_wheel.__file__) + "/deep/data.txt").read()))
for work in (lambda: open(gb_wheel.__file__, "w"), lambda: os.remove(gb_wheel.__file__), lambda: os.mkdir(os.path.dirname(gb_wheel.__file__) + "/new")):
    try:
        work()
        print("changed")
    except OSError as error:
        print(error.errno)
`;
    const answer = await glovebox().execute({ language: "python", code, packages: ["gb-wheel"] });
    expect(answer.stderr).toBe("");
    expect(answer.stdout).toBe("42 100000\n30\n30\n30\n");
  });
});

describe("a cluster's RuntimeClasses", () => {
  const glovebox = useCluster();
  /** As many processes as it may have at once, which end with it. */
  const forks = `
import os, signal
print(open("/proc/version").read())
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            signal.pause()
        made += 1
except OSError as error:
    print(error.errno, made)
`;
  const run = (oci_runtime: string) =>
    glovebox().execute({ language: "python", code: forks, oci_runtime, limits: { pids: 40 } });

  it("are OCI runtimes by their names, and no others", async (context) => {
    const { message } = await failureOf(run("absent"), "UNSUPPORTED");
    expect(message).toMatch(/no RuntimeClass "absent" for sandboxes: .*not found/);
    const answer = await run("gvisor").catch((error: unknown) => error);
    if (answer instanceof Error && /no RuntimeClass/.test(answer.message)) context.skip("the cluster has no gVisor");
    expect(answer).toMatchObject({ outcome: "completed", stdout: expect.stringMatching(/gvisor[^]*\n11 3\d\n$/) });
  });
});
