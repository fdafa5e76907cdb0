import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createGlovebox, type Glovebox, type RunCodeRequest, type RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

type StartRequest = Parameters<Glovebox["processes"]["start"]>[0];

const httpServer = ["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"];
const says = (word: string): string[] => [
  "python3",
  "-c",
  `import http.server\nclass H(http.server.BaseHTTPRequestHandler):\n  def do_GET(s):\n    s.send_response(200); s.end_headers(); s.wfile.write(b'${word}')\ns = http.server.HTTPServer(('127.0.0.1', 8000), H)\nprint('up', flush=True)\ns.serve_forever()`,
];
const echo = `Bun.serve({
  port: 8001,
  hostname: "127.0.0.1",
  fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("plain")),
  websocket: { maxPayloadLength: 1e8, message: (socket, message) => void socket.send(message) },
})`;

const portOf = (url: string | undefined): number => Number(new URL(url ?? "").port);
const socketTo = (url: string | undefined): Socket => connect({ port: portOf(url), host: "127.0.0.1" });
async function isRefused(url: string | undefined): Promise<boolean> {
  const socket = socketTo(url);
  const answer = await Promise.race([once(socket, "connect"), once(socket, "error")]).catch((error: unknown) => error);
  socket.destroy();
  return answer instanceof Error && "code" in answer && answer.code === "ECONNREFUSED";
}

describe.each(engines)("ports of a session's background processes on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  async function start(request: StartRequest) {
    const started = await glovebox().processes.start(request);
    const [url, second] = started.ports.map((port) => port.url);
    const row = async () => (await glovebox().processes.list({ process_id: started.process_id })).processes[0];
    return {
      ...started,
      url,
      second,
      stop: () => glovebox().processes.stop({ process_id: started.process_id }),
      stdout: async () => (await row())?.stdout?.text,
      stateNow: async () => (await row())?.state,
      [Symbol.asyncDispose]: async () => void (await glovebox().endSession()),
    };
  }

  it("serve HTTP on loopback, from the first moment on, until the process is stopped", async () => {
    await glovebox().writeFile({ path: "page.txt", content: "hello ü" });
    await using server = await start({ command: httpServer, ports: [8000] });
    expect(server.ports).toEqual([{ port: 8000, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string }]);
    expect(await (await fetch(`${server.url}/page.txt`)).text()).toBe("hello ü");
    expect((await fetch(`${server.url}/none`)).status).toBe(404);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/page.txt`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await glovebox().processes.list()).processes).toMatchObject([{ ports: server.ports }]);
    // The session's later programs reach it, and a concurrent call changes nothing.
    const asks = `import urllib.request\nprint(urllib.request.urlopen("http://127.0.0.1:8000/page.txt").read().decode())`;
    const asked = await glovebox().runCode({ language: "python", code: asks, packages: [] });
    expect(asked).toMatchObject({ stdout: "hello ü\n", stderr: "" });
    expect((await fetch(`${server.url}/page.txt`)).status).toBe(200);
    const open = socketTo(server.url);
    await once(open, "connect");
    const closed = once(open, "close");
    expect(await server.stop()).toMatchObject({ state: "exited", ports: [] });
    await closed;
    expect(await isRefused(server.url)).toBe(true);
  });

  it("carry a WebSocket, and as many bytes as come", async () => {
    await using server = await start({ command: ["bun", "-e", echo], ports: [8001] });
    const socket = new WebSocket(`${server.url?.replace("http", "ws")}/`);
    socket.binaryType = "arraybuffer";
    await once(socket, "open");
    const say = async (message: string | Uint8Array<ArrayBuffer>): Promise<unknown> => {
      const answered = once(socket, "message");
      socket.send(message);
      const [event] = (await answered) as [MessageEvent];
      return event.data;
    };
    expect(await say("hello ü")).toBe("hello ü");
    const bytes = Buffer.alloc(5_000_000, "0123456789");
    expect(Buffer.from((await say(new Uint8Array(bytes))) as ArrayBuffer).equals(bytes)).toBe(true);
    const closed = once(socket, "close");
    socket.close();
    await closed;
    expect(await (await fetch(`${server.url}/`)).text()).toBe("plain");
  });

  it("hold a program up that writes faster than its reader takes", async () => {
    const command = [...fixtureProgram("serves-tcp.py", "8002", "127.0.0.1", "flood")];
    await using server = await start({ command, ports: [8002] });
    const slow = socketTo(server.url);
    slow.pause();
    await once(slow, "connect");
    await expect.poll(() => server.stdout()).toContain("ready");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await server.stdout()).not.toContain("flooded");
    let count = 0;
    slow.on("data", (bytes) => (count += bytes.length));
    slow.resume();
    await once(slow, "end");
    expect(count).toBe(64 * 1_048_576);
    await expect.poll(() => server.stdout()).toContain("flooded");
  });

  it("end each direction separately", async () => {
    const command = [...fixtureProgram("serves-tcp.py", "8003", "127.0.0.1", "echo")];
    await using server = await start({ command, ports: [8003] });
    const socket = connect({ port: portOf(server.url), host: "127.0.0.1", allowHalfOpen: true });
    socket.end("all of it");
    const read = async (): Promise<string> => {
      let text = "";
      for await (const bytes of socket) text += String(bytes);
      return text;
    };
    expect(await read()).toBe("all of itend of input");
  });

  it("are answered by their own process only", async () => {
    await using own = await start({ command: says("own"), ports: [8000] });
    const text = async (): Promise<string> => (await fetch(`${own.url}/`)).text();
    expect(await text()).toBe("own");
    const other = await start({ command: says("other") });
    // All programs share one loopback: it finds the port taken.
    await expect.poll(() => other.stateNow()).toBe("exited");
    expect(await text()).toBe("own");
    const taken = await failureOf(start({ command: ["true"], ports: [8000] }), "ALREADY_EXISTS");
    expect(taken.context).toMatchObject({ field: "ports", port: 8000 });
    await own.stop();
    await using silent = await start({ command: says("silent") });
    await expect.poll(() => silent.stdout()).toBe("up\n");
    const again = await start({ command: ["sleep", "1000"], ports: [8004] });
    expect(await isRefused(again.url)).toBe(false);
    // A server of another program would answer on this one.
    const clash = await failureOf(start({ command: ["sleep", "1000"], ports: [8000] }), "ALREADY_EXISTS");
    expect(clash.context).toMatchObject({ port: 8000 });
    await silent.stop();
  });

  it("are closed to more connections than a program gets, to one that listens nowhere, and at its end", async () => {
    const command = [...fixtureProgram("serves-tcp.py", "8005", "127.0.0.1", "echo")];
    await using server = await start({ command, ports: [8005, 8006] });
    expect(portOf(server.url)).not.toBe(portOf(server.second));
    const silent = once(socketTo(server.second), "close");
    const many = Array.from({ length: 99 }, () => socketTo(server.url).on("error", () => undefined));
    const answered = many.map((socket) => once(socket, "data"));
    for (const socket of many) socket.write("x");
    await Promise.all(answered);
    const surplus = socketTo(server.url).on("error", () => undefined);
    await once(surplus, "close");
    await silent;
    const ends = many.map((socket) => once(socket.resume(), "close"));
    await glovebox().processes.stop({ process_id: server.process_id, signal: "SIGINT" });
    await Promise.all(ends);
    await expect.poll(() => isRefused(server.second)).toBe(true);
  });

  it("leave nothing behind when Glovebox ends", async () => {
    const own = await createGlovebox({ engine, settings: { images: sessionImages } });
    const { ports } = await own.processes.start({ command: httpServer, ports: [8000] });
    expect((await fetch(`${ports[0]?.url}/`)).status).toBe(200);
    await own.close();
    expect(await isRefused(ports[0]?.url)).toBe(true);
  });
});

describe.each(["docker", "podman"] as const)("ports of an environment's processes on %s", (engine) => {
  const glovebox = useGlovebox(engine);

  it("are reached in Node's image as in Python's", async () => {
    const { environments, processes } = glovebox();
    const { env_id } = await environments.create({ image: testImages.javascript });
    try {
      const code = 'require("node:http").createServer((_, r) => r.end("from node")).listen(8000)';
      const request = { env_id, command: ["node", "-e", code], ports: [8000] };
      const { ports, ...started } = await processes.start(request);
      expect(started).toMatchObject({ env_id, state: "running" });
      expect(await (await fetch(`${ports[0]?.url}/`)).text()).toBe("from node");
      await environments.runCommand({ env_id, command: ["sleep", "100"], timeout_seconds: 0.5 });
      expect((await fetch(`${ports[0]?.url}/`)).status).toBe(200);
      await failureOf(processes.start({ ...request, network: "registries" }), "INVALID_REQUEST");
      await environments.destroy({ env_id });
      expect(await isRefused(ports[0]?.url)).toBe(true);
    } finally {
      await environments.destroy({ env_id }).catch(() => undefined);
    }
  });
});

describe("ports of a session's background processes on docker with runsc", () => {
  const runtime = { oci_runtime: "runsc" } as const;
  const glovebox = useGlovebox("docker", { settings: { images: sessionImages } }, runtime);

  it("are reached beside calls that run out of time", async () => {
    const python = (code: string, rest: Partial<RunCodeRequest> = {}): Promise<RunCodeResponse> =>
      glovebox().runCode({ language: "python", packages: [], code, ...runtime, ...rest });
    await python("open('page.txt', 'w').write('hello')");
    const { ports } = await glovebox().processes.start({ command: httpServer, ports: [8000] });
    const text = async (): Promise<string> => (await fetch(`${ports[0]?.url}/page.txt`)).text();
    expect(await text()).toBe("hello");
    const late = await python("import time\ntime.sleep(100)", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out" });
    expect(await text()).toBe("hello");
  });
});
