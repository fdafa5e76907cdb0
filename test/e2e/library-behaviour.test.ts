import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connect,
  createGlovebox,
  type GloveboxError,
  ProgramError,
  type Alert,
  type Glovebox,
  type OutputChunk,
} from "../../src/index.ts";
import { startHttpServer } from "../helpers/http-server.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { isRequired } from "../helpers/require.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** A Glovebox on the embedded engine, and how to close it. */
interface Subject extends AsyncDisposable {
  readonly glovebox: Glovebox;
}

const subjects: readonly (readonly [string, () => Promise<Subject>])[] = [
  [
    "the embedded library",
    async () => {
      const glovebox = await createGlovebox({ engine: "local", settings: { images: sessionImages } });
      return { glovebox, [Symbol.asyncDispose]: () => glovebox.close() };
    },
  ],
  [
    "the client of a server",
    async () => {
      const server = await startHttpServer(["--engine", "local"]);
      const key = server.headers["authorization"]?.replace("Bearer ", "");
      const glovebox = connect({ url: server.url, key });
      const end = async (): Promise<void> => {
        await glovebox.close();
        await server[Symbol.asyncDispose]();
      };
      return { glovebox, [Symbol.asyncDispose]: end };
    },
  ],
];

describe.each(subjects)("%s", (_, open) => {
  useGlovebox("local");
  let subject: Subject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject[Symbol.asyncDispose]());
  const python = (code: string) => ({ language: "python", code }) as const;

  it("runs a program, and returns its result in camelCase with unchanged maps", async () => {
    const code = "import os, sys\nprint(os.environ['some_name'])\nprint('no', file=sys.stderr)\nsys.exit(3)";
    const result = await subject.glovebox.execute({
      ...python(code),
      environment: { some_name: "some_value" },
      limits: { timeoutSeconds: 20, memoryMb: 256 },
      contextFiles: [{ path: "a_b.txt", content: "x" }],
    });
    expect(result).toMatchObject({ ok: false, outcome: "failed", exitCode: 3, stdout: "some_value\n", stderr: "no\n" });
    expect(result).toMatchObject({ engine: "local", timedOut: false, truncated: false });
    expect(result.sandboxId).toMatch(/^sbx-/);
    expect(Object.keys(result).filter((name) => name.includes("_"))).toEqual([]);
  });

  it("returns output while the program runs, with unchanged bytes", async () => {
    await using session = await subject.glovebox.sessions.open();
    // It ends only after its first line has arrived and a file exists that is then written.
    const code = [
      "import os, sys, time",
      "sys.stdout.buffer.write('☃'.encode() + b'\\xff\\n'); sys.stdout.flush()",
      "while not os.path.exists('go'): time.sleep(0.05)",
      "print('end')",
    ].join("\n");
    const process = await session.processes.start(["python3", "-c", code]);
    let text = "";
    for await (const chunk of process.output()) {
      text += chunk.text;
      if (text.includes("☃") && !text.includes("end")) await session.files.write("go", "");
    }
    expect(text).toBe("☃\uFFFD\nend\n");

    const run = subject.glovebox.execute(python("import sys\nsys.stdout.buffer.write(b'a\\xff\\xe2\\x98')"));
    const chunks: OutputChunk[] = [];
    for await (const chunk of run) chunks.push(chunk);
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).toString("hex")).toBe("61ffe298");
    expect(chunks.map(({ text: part }) => part).join("")).toBe("a\uFFFD\uFFFD");
    expect(await run).toMatchObject({ ok: true });
  });

  it("reports what happens, the sandbox first", async () => {
    const events: string[] = [];
    const onEvent = ({ type }: { readonly type: string }): void => void events.push(type);
    await subject.glovebox.execute(python("print(1)"), { onEvent });
    expect(events[0]).toBe("sandbox");
    expect(events).toContain("output");
  });

  it("slows a program for a slow reader, and loses nothing", async () => {
    const run = subject.glovebox.execute(python("for i in range(200_000): print(i)"));
    let [text, count] = ["", 0];
    for await (const chunk of run) {
      text += chunk.text;
      if ((count += 1) % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(text).toBe(Array.from({ length: 200_000 }, (__, index) => `${index}\n`).join(""));
  });

  it("ends a program whose call is cancelled", async () => {
    const giveUp = new AbortController();
    const seconds = uniqueSeconds();
    const code = `import subprocess\nprint('up', flush=True)\nsubprocess.run(['sleep', '${seconds}'])`;
    const run = subject.glovebox.execute(python(code), { signal: giveUp.signal });
    const read = async (): Promise<void> => {
      for await (const { text } of run) if (text.includes("up")) giveUp.abort();
    };
    await read();
    expect(await run).toMatchObject({ ok: false, outcome: "cancelled", stdout: expect.stringContaining("up") });
    await expect.poll(() => sleepersFor(seconds), { timeout: 10_000 }).toEqual([]);
  });

  it("has a result for a cancelled run of a session too, and throws for what has none", async () => {
    await using session = await subject.glovebox.sessions.open();
    const giveUp = new AbortController();
    const run = session.run(python("print('up', flush=True)\nwhile True: pass"), { signal: giveUp.signal });
    for await (const { text } of run) if (text.includes("up")) giveUp.abort();
    expect(await run).toMatchObject({ ok: false, outcome: "cancelled" });
    expect(await session.run(python("print(1)"))).toMatchObject({ ok: true });
    await expect(session.files.write("a", "b", giveUp)).rejects.toMatchObject({ errorType: "CANCELLED" });
  });

  it("throws for a program that failed where that is asked for", async () => {
    const failure = await subject.glovebox.execute(python("raise SystemExit(4)"), { throwOnError: true }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ProgramError);
    expect(failure).toMatchObject({ result: { exitCode: 4, ok: false }, message: /exit code 4/ });
    await expect(subject.glovebox.execute(python("1"), { throwOnError: true })).resolves.toMatchObject({ ok: true });
  });

  it("refuses with the names of its own options", async () => {
    const refused = subject.glovebox.execute({ ...python("1"), limits: { memoryMb: -1 } });
    await expect(refused).rejects.toMatchObject({ errorType: "INVALID_REQUEST", message: /limits\.memoryMb/ });
    await expect(refused).rejects.toMatchObject({ context: { field: "limits.memoryMb" } });
    const unknown = subject.glovebox.execute({ ...python("1"), timeout_seconds: 3 } as never);
    await expect(unknown).rejects.toMatchObject({ errorType: "INVALID_REQUEST", message: /timeoutSeconds/ });
  });

  it("has sessions with files and processes", async () => {
    const { sessions } = subject.glovebox;
    await using session = await sessions.open({ limits: { memoryMb: 256 } });
    expect((await sessions.list()).map(({ sessionId }) => sessionId)).toContain(session.id);
    const bytes = Uint8Array.from({ length: 70_000 }, (__, index) => index % 256);
    await session.files.write("in/b.bin", bytes);
    expect(await session.files.readBytes("in/b.bin")).toEqual(bytes);
    const run = await session.run("await Bun.write('ö/t.txt', '☃'); console.log(1)");
    expect(run).toMatchObject({ ok: true, stdout: "1\n", sessionId: session.id });
    expect(await session.files.readText("ö/t.txt")).toBe("☃");
    expect((await session.files.list("in")).files).toMatchObject([{ path: "b.bin", type: "file", sizeBytes: 70_000 }]);
    expect(
      await sessions.get(session.id).run({ language: "python", code: "print(open('ö/t.txt').read())" }),
    ).toMatchObject({ stdout: "☃\n" });

    await using echo = await session.processes.start({ command: ["cat"] });
    await echo.write("hello\n", { close: true });
    let text = "";
    for await (const chunk of echo.output()) text += chunk.text;
    expect(text).toBe("hello\n");
    expect(await session.processes.list()).toMatchObject([{ processId: echo.id, state: "exited", exitCode: 0 }]);
  });

  it("has contexts of a session that keeps variables", async () => {
    await using session = await subject.glovebox.sessions.open({ keepVariables: true });
    const made = await session.contexts.create({ context: "left", language: "python", cwd: "/tmp" });
    expect(made).toMatchObject({ context: "left", runtime: "python", cwd: "/tmp", running: false, lastUsedAt: null });
    await session.run({ context: "left", code: "import os; x = os.getcwd()" });
    await session.run({ ...python("x = 'right'"), context: "right" });
    const left = await session.run({ context: "left", code: "x" });
    expect(left).toMatchObject({ ok: true, context: "left", displays: [{ content: "'/tmp'" }] });
    expect(await session.contexts.restart("left")).toMatchObject({ running: false });
    expect(await session.run({ context: "left", code: "'x' in globals()" })).toMatchObject({
      displays: [{ content: "False" }],
      variablesLost: true,
    });
    await session.contexts.end("left");
    expect((await session.contexts.list()).map(({ context }) => context)).toEqual(["right"]);
    await expect(session.contexts.end("left")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    const another = await subject.glovebox.sessions.open();
    await expect(another.run({ code: "1", context: "right" })).rejects.toMatchObject({ context: { field: "context" } });
    await another.close();
  });

  it("moves files that JSON could not carry, in pieces and as a whole", async () => {
    await using session = await subject.glovebox.sessions.open();
    const large = Uint8Array.from({ length: 11 * 2 ** 20 }, (__, index) => index % 251);
    const halves = async function* (): AsyncGenerator<Uint8Array> {
      yield large.subarray(0, 1_000_000);
      yield large.subarray(1_000_000);
    };
    for (const content of [large, halves()]) {
      expect(await session.files.write("in/large", content)).toMatchObject({ sizeBytes: large.length, warnings: [] });
      expect(Buffer.compare(await session.files.readBytes("in/large"), large)).toBe(0);
    }
    const part: Uint8Array[] = [];
    for await (const piece of session.files.readStream("in/large", { offset: 5, limit: 3 })) part.push(piece);
    expect(Buffer.concat(part)).toEqual(Buffer.from([5, 6, 7]));
    for await (const piece of session.files.readStream("in/large")) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    await expect(session.files.readBytes("in/missing")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield large.subarray(0, 1_000_000);
      throw new Error("the source failed");
    };
    await expect(session.files.write("in/large", failing())).rejects.toBeInstanceOf(Error);
    expect(Buffer.compare(await session.files.readBytes("in/large"), large)).toBe(0);
  });

  it("gives a sandbox's log, entry by entry, as it grows and until it ends", async () => {
    const { sandboxes, sessions } = subject.glovebox;
    const session = await sessions.open();
    const { sandboxId } = await session.run("console.log('one')");
    const there: string[] = [];
    for await (const { stream, message } of sandboxes.get(sandboxId).logs({ from: 1 }))
      there.push(`${stream}: ${message}`);
    expect(there).toEqual([
      expect.stringMatching(/^system: run \S+ started/),
      "stdout: one",
      expect.stringMatching(/^system: run \S+ ended/),
    ]);
    const followed: string[] = [];
    for await (const { message, containerId } of sandboxes.get(sandboxId).logs({ follow: true, stream: "stdout" })) {
      expect(containerId).toBe(sandboxId);
      followed.push(message);
      if (message === "one") await session.run("console.log('two')");
      if (message === "two") await session.close();
    }
    expect(followed).toEqual(["one", "two"]);
  });

  it("lists what lives and ends it", async () => {
    const { sandboxes, sessions } = subject.glovebox;
    await using session = await sessions.open();
    const { sandboxId } = await session.run("console.log(1)");
    const row = (await sandboxes.list({ engine: "local" })).find((each) => each.sandboxId === sandboxId);
    expect(row).toMatchObject({ engine: "local", kind: "session", running: true, owner: "living" });
    expect(Math.abs(Date.parse(row?.createdAt ?? "") - Date.now())).toBeLessThan(60_000);
    // A named engine must answer.
    const onDocker = isRequired("docker") ? await sandboxes.list({ engine: "docker" }) : [];
    expect(onDocker.map((each) => each.sandboxId)).not.toContain(sandboxId);
    const sandbox = sandboxes.get(sandboxId);
    await sandbox.files.write("a", "☃");
    expect(await session.files.readText("a")).toBe("☃");
    const sleeper = await sandbox.processes.start(["sleep", "1000"]);
    expect(await session.processes.list()).toMatchObject([{ processId: sleeper.id, state: "running" }]);
    expect((await sandbox.processes.get(sleeper.id).stop()).state).toBe("exited");
    await sandbox.close();
    const left = async () => (await sandboxes.list({ engine: "local" })).map((each) => each.sandboxId);
    await expect.poll(left, { timeout: 10_000 }).not.toContain(sandboxId);
    for (const none of [
      sandbox,
      sandboxes.get("sbx-none"),
      sandboxes.get("../sessions"),
      sandboxes.get("x".repeat(500)),
    ]) {
      await expect(none.files.list()).rejects.toMatchObject({ errorType: "NOT_FOUND" });
      await expect(none.processes.get("proc-1").stop()).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    }
    await expect(sandboxes.get("sbx-none").close()).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  });

  it("has no files and processes in the sandbox of a single program", async () => {
    const giveUp = new AbortController();
    let own = "";
    const onEvent = (event: { readonly type: string; readonly sandboxId?: string }): void => {
      own = event.sandboxId ?? own;
    };
    const code = "print('up', flush=True)\nwhile True: pass";
    const run = subject.glovebox.execute(python(code), { onEvent, signal: giveUp.signal });
    const refusals: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const { text } of run) {
        if (!text.includes("up")) continue;
        const { files, processes } = subject.glovebox.sandboxes.get(own);
        refusals.push(await files.read("x").catch((error: unknown) => error));
        refusals.push(await processes.list().catch((error: unknown) => error));
        giveUp.abort();
      }
    };
    // A client gets no answer any more.
    await Promise.allSettled([read(), run]);
    expect(refusals).toMatchObject([{ errorType: "UNSUPPORTED" }, { errorType: "UNSUPPORTED" }]);
  });

  it("ends a session, which is then unknown", async () => {
    const session = await subject.glovebox.sessions.open();
    await session.close();
    await expect(session.run("1")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    await expect(session.files.read("x")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    await expect(subject.glovebox.environments.get("none").run(["true"])).rejects.toMatchObject({
      errorType: "NOT_FOUND",
    });
  });
});

it("a Glovebox that is closed says so", async () => {
  const glovebox = await createGlovebox({ engine: "local" });
  await glovebox.close();
  await expect(glovebox.execute({ language: "python", code: "1" })).rejects.toThrow(/has been closed/);
});

it("closing cancels what still runs", async () => {
  const glovebox = await createGlovebox({ engine: "local" });
  const run = glovebox.execute({ language: "python", code: "print('up', flush=True)\nwhile True: pass" });
  for await (const { text } of run) if (text.startsWith("up")) break;
  await glovebox.close();
  await expect(run).resolves.toMatchObject({ ok: false, outcome: "cancelled" });
});

it.each([
  [{ enginee: "local" }, /no option enginee\. Did you mean engine\?$/],
  [{ configFile: "/nonexistent.json" }, /given by option configFile does not exist/],
  [{ settings: { max_containers: 0 } }, /max_containers \(option settings\.max_containers\)/],
])("an option that is wrong is refused by its name: %j", async (options, problem) => {
  const error = await createGlovebox(options as object).catch((thrown: unknown) => thrown as GloveboxError);
  expect(error).toMatchObject({ errorType: "INVALID_REQUEST" });
  expect(`${(error as GloveboxError).message} ${(error as GloveboxError).suggestion}`).toMatch(problem);
});

it("the log goes to a logger that is given, and alerts have names like all else", async () => {
  const alerts: Alert[] = [];
  const lines: string[] = [];
  const log = (_: object, message: string): void => void lines.push(message);
  const logger = { debug: log, info: log, warn: log, error: log };
  await using glovebox = await createGlovebox({ engine: "local", logger, onAlert: (alert) => alerts.push(alert) });
  const code = "import urllib.request\nurllib.request.urlopen('http://refused.test/')";
  const { sandboxId } = await glovebox.execute({ language: "python", code, network: ["allowed.test"] });
  expect(lines.length).toBeGreaterThan(0);
  expect(alerts[0]).toMatchObject({ containerId: sandboxId, kind: "network", state: "start" });
});
