import { describe, expect, it } from "vitest";
import { removeContainer } from "../helpers/remove-container.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { engines, places, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const kept = "open('kept.txt', 'w').write('here')";
const show = "print(open('kept.txt').read())";
/** Process ids of the session user's programs, except the one that asks. */
const others = `
import os
mine = {os.getpid()}
print(sorted(p for p in os.listdir('/proc') if p.isdigit() and int(p) not in mine and int(p) != 1
  and os.stat('/proc/' + p).st_uid == os.getuid()))
`;

describe.each(places)("sessions on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);
  const run = (request: RunCodeRequest): Promise<RunCodeResponse> => glovebox().runCode({ ...runtime, ...request });
  const python = (code: string, rest: Partial<RunCodeRequest> = {}): Promise<RunCodeResponse> =>
    run({ language: "python", code, packages: [], ...rest });

  it("two calls have one sandbox, fresh programs and the same files", async () => {
    const first = await python(`value = 1\n${kept}`);
    expect(first).toMatchObject({ outcome: "completed", stderr: "", engine, restarted: false });
    const second = await python(`${show}\nprint('value' in globals())`);
    expect(second).toMatchObject({ stdout: "here\nFalse\n", restarted: false });
    expect([second.session_id, second.container_id]).toEqual([first.session_id, first.container_id]);
    const third = await run({ code: "const text: string = await Bun.file('kept.txt').text(); console.log(text)" });
    expect(third).toMatchObject({ stdout: "here\n", stderr: "", container_id: first.container_id });
  });

  it("a call has environment variables of its own, which the next has not", async () => {
    const seen = "import os; print(os.environ.get('GB_ONE'))";
    expect(await python(seen, { environment: { GB_ONE: "é=1" } })).toMatchObject({ stdout: "é=1\n", stderr: "" });
    expect(await python(seen)).toMatchObject({ stdout: "None\n" });
    const typescript = { code: "console.log(process.env.GB_ONE)", environment: { GB_ONE: "two" } };
    expect(await run(typescript)).toMatchObject({ stdout: "two\n", stderr: "" });
  });

  it("keeps working after a time limit, a cancelled call and running out of memory", async () => {
    const before = await python("print(1)");
    const late = await python("import time\nprint('begun', flush=True)\ntime.sleep(60)", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", timed_out: true, stdout: "begun\n" });
    const giveUp = new AbortController();
    const cancelled = await glovebox().runCode(
      { ...runtime, language: "python", code: "import time\nprint('x', flush=True)\ntime.sleep(60)", packages: [] },
      { signal: giveUp.signal, onEvent: ({ type }) => void (type === "output" && giveUp.abort()) },
    );
    expect(cancelled.outcome).toBe("cancelled");
    const greedy = await python("x = bytearray(4000 * 1024 * 1024)\nprint(len(x))");
    expect(greedy).toMatchObject({ outcome: "oom_killed", error: { error_type: "OOM_KILLED" } });
    const after = await python("import os\nprint('works')");
    // Under gVisor, running out of memory ends the whole sandbox.
    const isReplaced = runtime.oci_runtime !== undefined;
    expect(after).toMatchObject({ outcome: "completed", stdout: "works\n", restarted: isReplaced });
    expect(after.container_id === before.container_id).toBe(!isReplaced);
  });

  it("nothing that a call leaves running is there in the next", async () => {
    const daemon = [
      "import os, signal, sys, time",
      "if os.fork() == 0:",
      "  os.setsid()",
      "  if os.fork() == 0:",
      "    signal.signal(signal.SIGTERM, signal.SIG_IGN)",
      "    os.execve(sys.executable, ['quiet', '-c', 'import time; time.sleep(300)'], {})",
      "  os._exit(0)",
      "time.sleep(0.5)",
    ].join("\n");
    expect(await python(`${daemon}\n${others}`)).toMatchObject({ outcome: "completed" });
    const next = await python(others);
    expect(next).toMatchObject({ stdout: "[]\n", restarted: false });
  });

  it("files are listed, read and written inside the sandbox", async () => {
    await glovebox().endSession();
    await failureOf(glovebox().listFiles(), "NOT_FOUND");
    if (runtime.oci_runtime !== undefined) await python("pass");
    await glovebox().writeFile({ path: "data/in.txt", content: "wörld\n" });
    await glovebox().writeFile({
      path: "data/in.txt",
      content: Buffer.from("new ü\n").toString("base64"),
      encoding: "base64",
    });
    const made =
      "import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('pipe')\nopen('b', 'wb').write(bytes(range(256)))";
    expect(await python(`print(open('data/in.txt').read())\n${made}`)).toMatchObject({
      stdout: "new ü\n\n",
      stderr: "",
    });
    const { files } = await glovebox().listFiles();
    expect(files.map(({ path, type }) => `${path} ${type}`)).toEqual([
      "b file",
      "data folder",
      "link link",
      "pipe other",
    ]);
    expect(await glovebox().readFile({ path: "/work/data/in.txt" })).toMatchObject({
      content: "new ü\n",
      size_bytes: 7,
    });
    expect(await glovebox().readFile({ path: "b", offset: 65, limit: 3 })).toMatchObject({
      content: "ABC",
      encoding: "utf8",
      size_bytes: 256,
      truncated: true,
    });
    expect(await glovebox().readFile({ path: "b" })).toMatchObject({ encoding: "base64", truncated: false });
    await failureOf(glovebox().readFile({ path: "nothing" }), "NOT_FOUND");
    await failureOf(glovebox().readFile({ path: "pipe" }), "INVALID_REQUEST");
    await failureOf(glovebox().writeFile({ path: "/etc/x", content: "" }), "PERMISSION_DENIED");
    const edit = { path: "data/in.txt", old_text: "new ü", new_text: "old $& ü\nnew" };
    expect(await glovebox().editFile(edit)).toMatchObject({ replacements: 1, size_bytes: 14, restarted: false });
    expect(await python("print(open('data/in.txt').read())")).toMatchObject({ stdout: "old $& ü\nnew\n\n" });
    const misread = await glovebox()
      .editFile({ ...edit, old_text: "old $& u\nnew" })
      .catch((error: unknown) => error);
    expect(misread).toMatchObject({ errorType: "INVALID_REQUEST", context: { line: 1, nearest: "old $& ü\nnew" } });
    await failureOf(glovebox().editFile({ ...edit, path: "b" }), "INVALID_REQUEST");
    await failureOf(glovebox().editFile({ ...edit, path: "nothing" }), "NOT_FOUND");
    // The link leads to a file of the sandbox itself.
    expect((await glovebox().readFile({ path: "link" })).content).toContain("root");
  });
});

describe.each(engines)("further: sessions on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });
  const run = (request: RunCodeRequest): Promise<RunCodeResponse> => glovebox().runCode(request);
  const python = (code: string, rest: Partial<RunCodeRequest> = {}): Promise<RunCodeResponse> =>
    run({ language: "python", code, packages: [], ...rest });

  it("the code's file can be read and not be written", async () => {
    const response = await python(
      "import os, sys\nprint(__file__, open(__file__).read()[:6], os.getcwd(), sys.argv[1:], sys.stdin.read())\nopen(__file__, 'w')",
      { args: ["a b"], stdin: "in" },
    );
    expect(response.stdout).toBe("/code/main.py import /work ['a b'] in\n");
    expect(response.stderr).toContain("PermissionError");
    const typescript = await run({
      code: "console.log(import.meta.path, process.env.BUN_INSTALL_CACHE_DIR); require('fs').writeFileSync(import.meta.path, '')",
    });
    expect(typescript.stdout).toBe("/code/main.ts /packages\n");
    expect(typescript.stderr).toContain("EACCES");
  });

  it("imports what is in /packages", async () => {
    await python("import os\nopen('/packages/mine.py', 'w').write('x = 5')");
    expect(await python("import mine\nprint(mine.x)")).toMatchObject({ stdout: "5\n" });
    await run({
      code: "const fs = require('fs'); fs.mkdirSync('/packages/node_modules/mine', { recursive: true }); fs.writeFileSync('/packages/node_modules/mine/index.js', 'module.exports = 7')",
    });
    expect(await run({ code: "import mine from 'mine'; console.log(mine)", packages: [] })).toMatchObject({
      stdout: "7\n",
    });
  });

  it("nothing that a call leaves among its files reaches the runner of the next", async () => {
    const poison = [
      "import os, sys",
      "version = 'python%d.%d' % sys.version_info[:2]",
      "site = '/tmp/.local/lib/' + version + '/site-packages'",
      "os.makedirs(site)",
      "open(site + '/x.pth', 'w').write('import os; os._exit(79)')",
      "open('/work/sitecustomize.py', 'w').write('import os; os._exit(78)')",
      "open('/code/os.py', 'w').write('raise SystemExit(77)')",
      "os.makedirs('/code/deep/er'); os.chmod('/code/deep/er', 0); os.chmod('/code/deep', 0)",
      "os.makedirs('/code/main.ts/x')",
    ].join("\n");
    expect(await python(poison)).toMatchObject({ exit_code: 0, stderr: "" });
    expect(await python("import os\nprint(os.listdir('/code'))")).toMatchObject({ stdout: "['main.py']\n" });
    expect(await run({ code: "console.log('typescript')" })).toMatchObject({ stdout: "typescript\n", stderr: "" });
    expect(await python("print('python')")).toMatchObject({ stdout: "python\n", restarted: false });
    await glovebox().endSession();
  });

  it("keeps its calls in order", async () => {
    const calls = [1, 2, 3].map((number) =>
      python(`import time\ntime.sleep(0.2)\nopen('order', 'a').write('${number}')\nprint(open('order').read())`),
    );
    expect((await Promise.all(calls)).map(({ stdout }) => stdout)).toEqual(["1\n", "12\n", "123\n"]);
  });

  it("ends on request, with its files", async () => {
    const first = await python(kept);
    expect(await glovebox().endSession({ session_id: first.session_id })).toEqual({ session_id: first.session_id });
    expect(await glovebox().endSession()).toEqual({ session_id: null });
    await failureOf(python("1", { session_id: first.session_id }), "NOT_FOUND");
    const second = await python(show);
    expect(second).toMatchObject({ outcome: "failed", restarted: false });
    expect(second.session_id).not.toBe(first.session_id);
  });

  it("refuses what a session that is there cannot change", async () => {
    await python("print(1)");
    const error = await failureOf(python("print(1)", { limits: { memory_mb: 100 } }), "INVALID_REQUEST");
    expect(error.context["field"]).toBe("limits.memory_mb");
  });
});

describe.each(["docker", "podman"] as const)("a session's container on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });
  const python = (code: string): Promise<RunCodeResponse> =>
    glovebox().runCode({ language: "python", code, packages: [] });

  it("is replaced when it was removed from outside", async () => {
    const first = await python(kept);
    const name = `glovebox-${first.container_id}`;
    removeContainer(engine, name);
    const second = await python("print('again')");
    expect(second).toMatchObject({ outcome: "completed", stdout: "again\n", restarted: true });
    expect(second.session_id).toBe(first.session_id);
    expect(second.warnings.join()).toContain("files of earlier calls are lost");
    expect(await python("print('on')")).toMatchObject({ restarted: false });
  });
});
