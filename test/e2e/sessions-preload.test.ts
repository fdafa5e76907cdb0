import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";

const registry = await PackageRegistry.start("127.0.0.1");
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": "answer = 42\n" } });
const cache = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", cache]);
});

describe.each([
  ["as another user", false],
  ["as ourselves", true],
])("sessions at isolation preload, with programs that run %s,", (_, asOurselves) => {
  let glovebox: PreloadGlovebox;
  let session: { readonly session_id?: string } = {};
  const run = async (request: RunCodeRequest, call = {}): Promise<RunCodeResponse> => {
    const response = await glovebox.runCode({ packages: [], ...session, ...request }, call);
    session = { session_id: response.session_id };
    return response;
  };
  const python = (code: string, rest: Partial<RunCodeRequest> = {}, call = {}): Promise<RunCodeResponse> =>
    run({ language: "python", code, ...rest }, call);

  beforeAll(async () => {
    const settings = { packages: { directory: `${cache}/${asOurselves}`, install_at_preload: true } };
    glovebox = await openPreloadGlovebox({ asOurselves, settings });
  });
  afterAll(() => glovebox[Symbol.asyncDispose]());

  it("are one place with fresh programs and files that last, in both languages", async () => {
    const first = await python("value = 1\nopen('kept.txt', 'w').write('here')");
    expect(first).toMatchObject({ outcome: "completed", stderr: "", isolation: "preload", restarted: false });
    const second = await python("print(open('kept.txt').read(), 'value' in globals())");
    expect(second).toMatchObject({ stdout: "here False\n", restarted: false, container_id: first.container_id });
    const third = await run({
      code: "import fs from 'node:fs'; const text: string = fs.readFileSync('kept.txt', 'utf8'); console.log(text)",
    });
    expect(third).toMatchObject({ stdout: "here\n", stderr: "", container_id: first.container_id });
    expect(third.warnings.join()).toContain("isolation preload:");
  });

  it("give programs their arguments and input, and code that they can read and not write", async () => {
    const code = "import sys\nprint(open(__file__).read()[:6], sys.argv[1:], sys.stdin.read())\nopen(__file__, 'w')";
    const { stdout, stderr } = await python(code, { args: ["a b"], stdin: "in" });
    expect(stdout).toBe("import ['a b'] in\n");
    // Root may write even where all access is closed; the next call still runs its own code.
    expect(stderr).toMatch(asOurselves ? /^/ : /PermissionError/);
    expect(await python("print('next')")).toMatchObject({ stdout: "next\n" });
  });

  it("take no environment variables for a call, which could change its guard", async () => {
    await expect(python("1", { environment: { LD_PRELOAD: "/work/x.so" } })).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      context: { field: "environment" },
    });
  });

  it("keep working after a time limit, a cancelled call and running out of memory", async () => {
    const before = await python("print(1)");
    const late = await python("import time\nprint('begun', flush=True)\ntime.sleep(60)", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", timed_out: true, stdout: "begun\n" });
    const giveUp = new AbortController();
    const cancelled = await python(
      "import time\nprint('x', flush=True)\ntime.sleep(60)",
      {},
      {
        signal: giveUp.signal,
        onEvent: ({ type }: { readonly type: string }) => void (type === "output" && giveUp.abort()),
      },
    );
    expect(cancelled.outcome).toBe("cancelled");
    const greedy = "kept = []\nwhile True: kept.append(bytearray(1024 * 1024) + b'x')";
    expect((await python(greedy)).outcome).not.toBe("completed");
    const after = await python("print('works')");
    expect(after).toMatchObject({ stdout: "works\n", restarted: false, container_id: before.container_id });
    const typescript = await run({ code: "const word: string = 'too'; console.log(word)" });
    expect(typescript).toMatchObject({ stdout: "too\n", restarted: false });
  });

  it("let nothing that a call leaves among its files reach the runner of the next", async () => {
    const poison = [
      "import os, tempfile",
      "for folder in (os.getcwd(), tempfile.gettempdir(), os.path.dirname(os.path.abspath(__file__))):",
      "  for name in ('sitecustomize.py', 'usercustomize.py', 'os.py', 'json.py'):",
      "    try: open(os.path.join(folder, name), 'w').write('raise SystemExit(77)')",
      "    except OSError: pass",
    ].join("\n");
    expect(await python(poison)).toMatchObject({ exit_code: 0, stderr: "" });
    expect(await python("import os\nprint(os.listdir(os.path.dirname(__file__)))")).toMatchObject({
      stdout: "['main.py']\n",
    });
    expect(await run({ code: "console.log('typescript')" })).toMatchObject({ stdout: "typescript\n", stderr: "" });
  });

  it("keep their calls in order", async () => {
    const calls = [1, 2, 3].map((number) =>
      python(`import time\ntime.sleep(0.1)\nopen('order', 'a').write('${number}')\nprint(open('order').read())`),
    );
    expect((await Promise.all(calls)).map(({ stdout }) => stdout)).toEqual(["1\n", "12\n", "123\n"]);
  });

  it("keep their files unchanged when packages need another sandbox", async () => {
    const make =
      "import os\nos.makedirs('deep/er')\nos.mkdir('empty')\nopen('deep/er/run', 'wb').write(bytes(range(256)) * 9000)\nos.chmod('deep/er/run', 0o750)";
    const before = await python(make);
    const look =
      "import os, stat, gb_wheel\nprint(gb_wheel.answer, os.listdir('empty'), oct(stat.S_IMODE(os.stat('deep/er/run').st_mode)), open('deep/er/run', 'rb').read() == bytes(range(256)) * 9000)";
    const after = await python(look, { packages: ["gb-wheel"] });
    expect(after.stdout, after.stderr).toBe("42 [] 0o750 True\n");
    expect(after).toMatchObject({ restarted: true, session_id: before.session_id });
    expect(after.warnings.join()).toContain("files in /work are the same");
  });

  it("keep their place when their files cannot be kept, and say why", async () => {
    session = {};
    await python("import os\nos.symlink('there', 'link')\nopen('kept', 'w').write('x')");
    await expect(python("1", { packages: ["gb-wheel"] })).rejects.toMatchObject({
      message: expect.stringContaining("could not be saved"),
    });
    expect(await python("print(open('kept').read())")).toMatchObject({ stdout: "x\n", restarted: false });
  });

  it("have files that are written, listed and read from outside, and are their programs' own", async () => {
    session = {};
    await python("import os\nos.mkdir('made')\nopen('made/by-program', 'w').write('from inside')");
    await glovebox.writeFile({ ...session, path: "in/put.txt", content: "from outside" });
    const inside = "print(open('in/put.txt').read())\nopen('in/put.txt', 'a').write('!')\nopen('in/beside', 'w')";
    expect(await python(inside)).toMatchObject({ stdout: "from outside\n", stderr: "", restarted: false });
    expect(await glovebox.readFile({ ...session, path: "/work/in/put.txt" })).toMatchObject({
      content: "from outside!",
      size_bytes: 13,
      truncated: false,
    });
    expect(await glovebox.readFile({ ...session, path: "made/by-program", offset: 5, limit: 3 })).toMatchObject({
      content: "ins",
      truncated: true,
    });
    const { files } = await glovebox.listFiles({ ...session });
    expect(files.map(({ path, type }) => `${type} ${path}`)).toEqual(["folder in", "folder made"]);
    const where = (await python("import os\nprint(os.path.abspath('in/put.txt'))")).stdout.trim();
    expect(await glovebox.readFile({ ...session, path: where })).toMatchObject({ content: "from outside!" });
  });

  it("are read through no link that a program has left, and nothing of this machine's is read or written", async () => {
    session = {};
    await python("import os\nopen('real', 'w').write('x')\nos.symlink('real', 'link')\nos.symlink('.', 'round')");
    const refused = { errorType: "INVALID_REQUEST" };
    for (const path of ["link", "round/real", "round"]) {
      await expect(glovebox.readFile({ ...session, path })).rejects.toMatchObject(refused);
      await expect(glovebox.writeFile({ ...session, path, content: "evil" })).rejects.toMatchObject(refused);
    }
    await expect(glovebox.listFiles({ ...session, path: "round" })).rejects.toMatchObject(refused);
    for (const path of ["/etc/hostname", "../../../etc/hostname"]) {
      await expect(glovebox.readFile({ ...session, path })).rejects.toMatchObject({ errorType: "NOT_FOUND" });
      await expect(glovebox.writeFile({ ...session, path, content: "x" })).rejects.toMatchObject({
        errorType: "NOT_FOUND",
      });
    }
    expect(await python("print(open('real').read())")).toMatchObject({ stdout: "x\n" });
  });
});
