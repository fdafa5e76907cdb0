import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Glovebox } from "../../src/index.ts";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand } from "../helpers/run-command.ts";

const program = { language: "python", code: "print(1)" } as const;

/** A server with arbitrary answers. */
async function strange(listener: RequestListener): Promise<{ glovebox: Glovebox; url: string } & AsyncDisposable> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const glovebox = connect({ url, key: "the-key" });
  return {
    glovebox,
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const failureOf = async (work: PromiseLike<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe("a client of a server that is not ours", () => {
  const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const events = { "content-type": "text/event-stream" };

  it.each<readonly [string, RequestListener, RegExp]>([
    ["text instead of JSON", (_, response) => response.end("<html>"), /not JSON/],
    ["JSON of another form", (_, response) => response.end('{"outcome": 5}'), /another form/],
    ["an error of another form", (_, response) => response.writeHead(500).end("{}"), /HTTP status 500/],
    ["a redirect", (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(), /failed/],
    [
      "a stream without an end",
      (_, response) => response.writeHead(200, events).end(event({ event: "sandbox", sandbox_id: "x" })),
      /before the answer/,
    ],
    [
      "a bad result",
      (_, response) => response.writeHead(200, events).end(event({ event: "result", result: null })),
      /another form/,
    ],
    [
      "a connection that breaks",
      (_, response) => response.writeHead(200, events).write("data: {", () => response.destroy()),
      /failed|before the answer/,
    ],
  ])("%s is a NETWORK_ERROR", async (_, listener, words) => {
    await using server = await strange(listener);
    const failure = await failureOf(server.glovebox.execute(program));
    expect(failure).toMatchObject({ errorType: "NETWORK_ERROR", message: expect.stringMatching(words) });
    expect(JSON.stringify(failure)).not.toContain("the-key");
  });

  it("a call whose input was sent is not sent again without it, where others are", async () => {
    const bodies: string[] = [];
    await using server = await strange((request, response) => {
      const body: Uint8Array[] = [];
      request.on("data", (piece: Uint8Array) => body.push(piece));
      request.on("end", () => {
        bodies.push(Buffer.concat(body).toString());
        const error = { error_type: "CAPACITY", message: "full", suggestion: "wait", context: {} };
        response.writeHead(429, { "retry-after": "0.1" }).end(JSON.stringify(error));
      });
    });
    const glovebox = connect({ url: server.url, key: "the-key", maxRetries: 2 });
    const input = (): AsyncIterable<Uint8Array> => ReadableStream.from([Buffer.from("once")]);
    for (const call of [{ stdin: input() }, {}]) {
      await expect(failureOf(glovebox.execute(program, call))).resolves.toMatchObject({ errorType: "CAPACITY" });
    }
    expect(bodies.map((body) => body.endsWith("}\nonce"))).toEqual([true, false, false, false]);
  });

  it("no server is a NETWORK_ERROR that names it", async () => {
    const glovebox = connect({ url: "http://127.0.0.1:1/" });
    await expect(failureOf(glovebox.execute(program))).resolves.toMatchObject({
      errorType: "NETWORK_ERROR",
      message: expect.stringContaining("http://127.0.0.1:1"),
    });
  });

  it("events that it does not know are passed over", async () => {
    const error = { error_type: "CAPACITY", message: "full", suggestion: "wait", context: {} };
    await using server = await strange((_, response) =>
      response.writeHead(200, events).end(`: alive\n\n${event({ event: "new" })}${event({ event: "error", error })}`),
    );
    await expect(failureOf(server.glovebox.execute(program))).resolves.toMatchObject({ errorType: "CAPACITY" });
  });

  it.each([
    [0, 1],
    [2, 3],
  ])(
    "with %d retries what has no room is asked %d times, after the time that the server names",
    async (maxRetries, asked) => {
      let count = 0;
      await using server = await strange((_, response) => {
        count += 1;
        const error = { error_type: "CAPACITY", message: "full", suggestion: "wait", context: {} };
        response.writeHead(429, { "retry-after": "0.1" }).end(JSON.stringify(error));
      });
      const glovebox = connect({ url: server.url, maxRetries });
      await expect(failureOf(glovebox.execute(program))).resolves.toMatchObject({
        errorType: "CAPACITY",
        context: { retry_after_seconds: 0.1 },
      });
      expect(count).toBe(asked);
    },
  );

  it.each(["", "127.0.0.1:8420", "ftp://x", "http://user:secret@x", "http://x/?y"])("the URL %j is refused", (url) => {
    expect(() => connect({ url })).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });
});

describe("a client of a server", () => {
  useGlovebox("local");
  let server: HttpServerProcess;
  beforeAll(async () => {
    server = await startHttpServer(["--engine", "local"], { GLOVEBOX_PROJECT_ROOTS: projects });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(projects, { recursive: true });
  });
  const projects = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-client-projects-")));
  const key = (): string => server.headers["authorization"]?.replace("Bearer ", "") ?? "";

  it("is refused without its key", async () => {
    for (const wrong of [undefined, "", "x", `${key()}x`]) {
      const glovebox = connect({ url: server.url, key: wrong });
      await expect(failureOf(glovebox.sessions.open())).resolves.toMatchObject({ errorType: "PERMISSION_DENIED" });
    }
  });

  it("cancels its calls when it is closed, and leaves sessions alone", async () => {
    const glovebox = connect({ url: server.url, key: key() });
    const session = await glovebox.sessions.open();
    const run = session.run({ language: "python", code: "print('up', flush=True)\nimport time; time.sleep(1000)" });
    for await (const { text } of run) if (text.startsWith("up")) break;
    await glovebox.close();
    expect(await run).toMatchObject({ ok: false, outcome: "cancelled", stdout: expect.stringContaining("up") });
    const other = connect({ url: server.url, key: key() });
    expect(await other.sessions.get(session.id).run("console.log(1)")).toMatchObject({ ok: true });
  });

  it("sends standard input as it comes, of any size, and no further than until the answer", async () => {
    const glovebox = connect({ url: server.url, key: key() });
    const code = "print(input() + input())";
    const stdin = (async function* () {
      yield new TextEncoder().encode("☃\n").subarray(0, 2);
      yield new TextEncoder().encode("☃\n").subarray(2);
      yield new TextEncoder().encode("b\n");
    })();
    expect(await glovebox.execute({ language: "python", code }, { stdin })).toMatchObject({ stdout: "☃b\n" });
    // More than a server holds, of any bytes, made as they are taken.
    const large = (async function* () {
      for (let left = 20; left > 0; left -= 1) yield Buffer.alloc(2 ** 20, 255);
    })();
    const count = "import sys; print(sum(map(len, iter(lambda: sys.stdin.buffer.read(65536), b''))))";
    expect(await glovebox.execute({ language: "python", code: count }, { stdin: large })).toMatchObject({
      stdout: `${20 * 2 ** 20}\n`,
    });
    let isLeft = false;
    const endless = (async function* () {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        isLeft = true;
      }
    })();
    expect(await glovebox.execute({ language: "python", code: "print(1)" }, { stdin: endless })).toMatchObject({
      ...{ outcome: "completed", stdout: "1\n" },
    });
    expect(isLeft).toBe(true);
    const broken = (async function* () {
      yield Buffer.alloc(1);
      throw new Error("the disk is gone");
    })();
    await expect(glovebox.execute({ language: "python", code: count }, { stdin: broken })).rejects.toThrow(
      "disk is gone",
    );
    const nobodys = glovebox.tests.run({ projectPath: projects, testCommand: "true" }, { stdin: endless } as object);
    await expect(failureOf(nobodys)).resolves.toMatchObject({ errorType: "UNSUPPORTED" });
  });

  it("has no way to what is this machine's alone", async () => {
    const glovebox = connect({ url: server.url, key: key() });
    for (const call of [glovebox.doctor(), glovebox.mounts.list(), glovebox.images.list()]) {
      await expect(failureOf(call)).resolves.toMatchObject({ errorType: "UNSUPPORTED" });
    }
  });

  it("works in a browser, which has nothing of Node's", async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("../../src/client.ts", import.meta.url))],
      ...{ bundle: true, write: false, format: "iife", globalName: "gloveboxClient", platform: "browser" },
    });
    const web = {
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      URL,
      URLSearchParams,
      atob,
      btoa,
      clearTimeout,
      fetch,
      setTimeout,
    };
    const source = `${outputFiles[0]?.text ?? ""}; gloveboxClient`;
    const page = runInNewContext(source, { ...web }) as { readonly connect: typeof connect };
    const glovebox = page.connect({ url: server.url, key: key() });
    const run = glovebox.execute(program);
    let text = "";
    for await (const chunk of run) text += chunk.text;
    expect([text, (await run).ok]).toEqual(["1\n", true]);
    expect(runInNewContext("typeof process + typeof Buffer", { ...web })).toBe("undefinedundefined");
    // Browsers refuse streams as bodies over HTTP/1.1.
    const send: typeof fetch = (to, init) =>
      init?.body instanceof ReadableStream ? Promise.reject(new TypeError("no HTTP/2")) : fetch(to, init);
    const shown = { ...web, fetch: send, Blob, ReadableStream, document: {} };
    const browser = (runInNewContext(source, shown) as typeof page).connect({ url: server.url, key: key() });
    const stdin = ReadableStream.from([Buffer.of(255), Buffer.from("in")]);
    const read = { language: "python", code: "import sys; print(sys.stdin.buffer.read())" } as const;
    expect(await browser.execute(read, { stdin })).toMatchObject({ stdout: "b'\\xffin'\n" });
  });

  it("works in Bun", async () => {
    const entry = JSON.stringify(fileURLToPath(new URL("../../src/client.ts", import.meta.url)));
    const code = `
      import { connect } from ${entry};
      const glovebox = connect(${JSON.stringify({ url: server.url, key: key() })});
      const run = glovebox.execute({ language: "python", code: "print(6 * 7)" });
      for await (const { text } of run) process.stdout.write(text);
      console.log((await run).ok);`;
    const bun = createRequire(import.meta.url).resolve("bun/bin/bun.exe");
    const { stdout } = await promisify(execFile)(bun, ["-e", code]);
    expect(stdout).toBe("42\ntrue\n");
  });

  it("the command is one, with the variables", async () => {
    const environment = { GLOVEBOX_URL: server.url, GLOVEBOX_KEY: key() };
    const run = await runCommand(["run", "-c", "import sys; print(input()); sys.exit(3)"], {
      environment,
      stdin: "in\n",
    });
    expect(run).toMatchObject({ exitCode: 3, stdout: "in\n" });
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-client-"));
    mkdirSync(path.join(folder, "data"));
    writeFileSync(path.join(folder, "data", "a.bin"), Uint8Array.of(255, 1));
    const options = { environment, cwd: folder };
    const code = "print(open('data/a.bin', 'rb').read().hex())";
    expect(await runCommand(["run", "-c", code, "--file", "data/a.bin"], options)).toMatchObject({ stdout: "ff01\n" });
    const outside = await runCommand(["run", "-c", code, "--file", "/etc/hostname"], options);
    expect(outside).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--file") });
    truncateSync(path.join(folder, "data", "a.bin"), 16_777_217);
    const large = await runCommand(["run", "-c", code, "--file", "data/a.bin"], options);
    expect(large).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--file: a server takes at most 16 MiB"),
    });
    rmSync(folder, { recursive: true });
    writeFileSync(path.join(projects, "passes.js"), 'require("node:test").test("adds", () => undefined);');
    const tested = await runCommand(["test", "--", "node", "passes.js"], { environment, cwd: projects });
    expect(tested, tested.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("glovebox: passed: ") });
    const listed = await runCommand(["ps", "--json"], { environment });
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('{"sandboxes":[') });
    const refusals: readonly (readonly [readonly string[], number, string])[] = [
      [["exec", "sbx-1", "ls"], 125, "You have no live sandbox"],
      [["cp", "package.json", "sbx-1:/work"], 125, "You have no live sandbox"],
      [["shell"], 2, "needs a terminal"],
      [["doctor"], 125, "UNSUPPORTED"],
    ];
    for (const [argv, exitCode, words] of refusals) {
      const none = await runCommand(argv, { environment });
      expect(none).toMatchObject({ exitCode, stderr: expect.stringContaining(words) });
    }
    const refused = await runCommand(["run", "-c", "1"], { environment: { ...environment, GLOVEBOX_KEY: "x" } });
    expect(refused.exitCode).toBe(125);
    expect(refused.stderr).toContain("token");
    const bad = await runCommand(["run", "-c", "1"], { environment: { GLOVEBOX_URL: "nowhere" } });
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("GLOVEBOX_URL") });
  });
});
