import { describe, expect, it } from "vitest";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { engines, places, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

describe.each(places)("a session's verdicts on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);
  const python = (code: string): Promise<RunCodeResponse> =>
    glovebox().runCode({ ...runtime, language: "python", packages: [], code });

  it("running out of memory is the verdict of the call that did, and of no later one", async () => {
    const greedy = await python("x = bytearray(4000 * 1024 * 1024)\nprint(len(x))");
    expect(greedy.outcome).toBe("oom_killed");
    expect(greedy.error?.suggestion).toMatch(/another session with a higher limits\.memory_mb \(at most \d+ MiB\)/);
    for (const exitCode of [3, 137]) {
      const next = await python(`import os\nos._exit(${exitCode})`);
      expect(next).toMatchObject({ outcome: "failed", exit_code: exitCode });
      expect(next.error).toBeUndefined();
    }
  });

  it("the memory of a call is its own, whatever earlier ones used", async () => {
    const hold = (mebibytes: number) => `import time\nx = bytearray(b"x") * (${mebibytes} << 20)\ntime.sleep(3)`;
    const { session_id, memory_used_mb: large } = await python(hold(200));
    expect(large).toBeGreaterThan(200);
    const call = { ...runtime, language: "python" as const, packages: [], session_id };
    const { memory_used_mb: small } = await glovebox().runCode({ ...call, code: hold(40) });
    expect(small).toBeGreaterThan(40);
    expect(small).toBeLessThan(150);
  });
});

describe.each(engines)("what is kept of output on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages, max_output_bytes: 1024 } });

  it("has no colours: programs are told that it is not a terminal, unless the request says otherwise", async () => {
    const code = "import os\nprint({name: os.environ.get(name) for name in ('NO_COLOR', 'FORCE_COLOR', 'TERM')})";
    const request = { language: "python", code } as const;
    const plain = { stdout: "{'NO_COLOR': '1', 'FORCE_COLOR': None, 'TERM': 'dumb'}\n" };
    expect(await glovebox().execute(request)).toMatchObject(plain);
    expect(await glovebox().runCode({ ...request, packages: [] })).toMatchObject(plain);
    const chosen = await glovebox().execute({ ...request, environment: { FORCE_COLOR: "1", TERM: "xterm" } });
    expect(chosen.stdout).toBe("{'NO_COLOR': None, 'FORCE_COLOR': '1', 'TERM': 'xterm'}\n");
  });

  it.each(["javascript", "typescript"] as const)("comes of %s that holds NUL characters, too", async (language) => {
    const code = "const text = 'x\0y'; // \0\nconsole.log(text.length, `\0`.length)";
    const expected = { outcome: "completed", stdout: "3 1\n" };
    expect(await glovebox().execute({ language, code, packages: "auto" })).toMatchObject(expected);
    expect(await glovebox().runCode({ language, code, packages: "auto" })).toMatchObject(expected);
    const python = glovebox().execute({ language: "python", code });
    await expect(python).rejects.toMatchObject({ errorType: "INVALID_REQUEST", context: { field: "code" } });
  });

  it("comes of the runtime that was asked for: one operation has one on every engine", async () => {
    const typescript = { language: "typescript", code: "console.log(typeof Bun)" } as const;
    const has = async (runtime?: "node" | "bun") => (await glovebox().execute({ ...typescript, runtime })).stdout;
    expect(await has("bun")).toBe("object\n");
    const inSession = { ...typescript, packages: [], runtime: "bun" as const };
    expect(await glovebox().runCode(inSession)).toMatchObject({ stdout: "object\n" });
    expect([await has(), await has("node")]).toEqual(["undefined\n", "undefined\n"]);
    expect(await glovebox().runCode({ ...inSession, runtime: undefined })).toMatchObject({ stdout: "object\n" });
    const asked = glovebox().execute({ ...python, runtime: "node" });
    await expect(asked).rejects.toMatchObject({ errorType: "INVALID_REQUEST", context: { field: "runtime" } });
  });

  const python = { language: "python", code: "pass" } as const;
  const floods = { stdout: "print('x' * 5000)", stderr: "import sys\nprint('x' * 5000, file=sys.stderr)" };

  it.each(["stdout", "stderr"] as const)(
    "says so when %s alone was cut, of a program and of a call",
    async (stream) => {
      const request = { language: "python", code: floods[stream] } as const;
      const expected = { outcome: "completed", truncated: true, [stream]: "x".repeat(1024) };
      expect(await glovebox().execute(request)).toMatchObject(expected);
      expect(await glovebox().runCode({ ...request, packages: [] })).toMatchObject(expected);
    },
  );
});

describe("time limits count from a program's own start", () => {
  const glovebox = useGlovebox("local", { settings: { images: sessionImages, max_containers: 1 } });
  const sleeps = (seconds: number) =>
    ({ language: "python", code: `import time\ntime.sleep(${seconds})\nprint('done')` }) as const;
  const waits = { timeout_seconds: 2 };
  const done = { outcome: "completed", stdout: "done\n" };

  it("when a call of a session had to wait for another", async () => {
    const request: RunCodeRequest = { ...sleeps(3), packages: [] };
    const { session_id } = await glovebox().runCode({ ...sleeps(0), packages: [] });
    const first = glovebox().runCode({ ...request, session_id });
    const second = glovebox().runCode({ ...sleeps(0), packages: [], session_id, ...waits });
    expect(await second).toMatchObject(done);
    expect(await first).toMatchObject(done);
    await glovebox().endSession({ session_id });
  });

  it("when a one-shot had to wait for a place", async () => {
    const started = Promise.withResolvers<void>();
    const code = `print('on', flush=True)\n${sleeps(3).code}`;
    const first = glovebox().execute({ language: "python", code }, { onEvent: () => started.resolve() });
    await started.promise;
    const second = glovebox().execute({ ...sleeps(0), ...waits });
    expect(await second).toMatchObject(done);
    expect(await first).toMatchObject({ outcome: "completed", stdout: "on\ndone\n" });
  });
});
