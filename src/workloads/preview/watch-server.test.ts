import { describe, expect, it, afterEach } from "vitest";
import {
  likeliestFirst,
  parseListeningPorts,
  otherPortMs,
  startWithinMs,
  watchPort,
  hintsOf,
  otherPortNote,
  silenceOf,
} from "./watch-server.ts";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65527        0 1 1 0 100 0 0 10 0
   1: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65527        0 2 1 0 100 0 0 10 0
   2: 0100007F:1435 0100007F:C001 01 00000000:00000000 00:00000000 00000000 65527        0 3 1 0 20 4 30 10 -1
  sl  local_address                         remote_address                        st tx_queue rx_queue tr
   0: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000
   1: 00000000000000000000000000000000:1435 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000
`;

describe("ports at which a sandbox's programs listen", () => {
  it("are those of listening sockets of both kinds, each once, lowest first", () => {
    expect(parseListeningPorts(table)).toEqual([3000, 5173, 9229]);
  });

  it("are none in what is no such table", () => {
    for (const text of [
      "",
      "cat: /proc/net/tcp: No such file\n",
      "0: x:1435 y:0000 0A \n",
      table.replaceAll(" 0A ", " 01 "),
    ])
      expect(parseListeningPorts(text)).toEqual([]);
  });

  it("come in the order in which output names them, the others after them", () => {
    const output = "Debugger listening on ws://127.0.0.1:51730/x\n  Local:   http://localhost:5173/\nthen :3000";
    expect(likeliestFirst([1234, 3000, 5173, 9229], output)).toEqual([5173, 3000, 1234, 9229]);
  });
});

/** Port 1 is asked for, or likely; other ports of the sandbox are numbered from 2. */
interface Scene {
  /** Ports of this machine by those of the sandbox; nothing listens where there is none. */
  readonly portOf: (port: number) => number | null;
  readonly isNamed?: boolean;
  readonly listening?: () => readonly number[];
}

/** A watch of ports of this machine under a clock that the test sets. */
function watch({ portOf: portNow, isNamed = true, listening = () => [] }: Scene) {
  const clock = { ms: 0 };
  const [looks, told] = [{ count: 0 }, [] as string[]];
  const over = new AbortController();
  const watching = watchPort({
    port: 1,
    isNamed,
    listening: async () => listening(),
    connect: async (asked, signal) => {
      if (asked === 1) looks.count += 1;
      const port = portNow(asked);
      if (port === null) throw new Error("nothing listens");
      const socket = connect({ port, host: "127.0.0.1" });
      await once(socket, "connect", { signal });
      return socket;
    },
    signal: over.signal,
    onAnswer: (port) => void told.push(`${port} answers`),
    onSilence: (state, port, others) => void told.push(`${port} ${state} [${others.join(" ")}]`),
    monotonicMs: () => clock.ms,
  });
  const moreLooks = async (): Promise<void> => {
    const seen = looks.count;
    await expect.poll(() => looks.count, { timeout: 20_000 }).toBeGreaterThan(seen + 1);
  };
  return { clock, told, moreLooks, end: () => (over.abort(), watching) };
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

describe("a preview whose port", () => {
  it("does not answer is told of when its two minutes are over and not before, once, and answers later", async () => {
    let port: number | null = null;
    const { clock, told, moreLooks, end } = watch({ portOf: () => port });
    clock.ms = startWithinMs - 1;
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = startWithinMs;
    await moreLooks();
    await moreLooks();
    expect(told).toEqual(["1 closed []"]);
    const server = createHttpServer((_, response) => response.end("page"));
    port = await portOf(server);
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["1 closed []", "1 answers"]);
    await end();
    server.close();
  });

  it("takes connections and says nothing in HTTP is silent, not closed", async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("no HTTP"));
    const port = await portOf(server);
    const { clock, told, moreLooks, end } = watch({ portOf: () => port });
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = startWithinMs;
    await moreLooks();
    expect(told).toEqual(["1 silent []"]);
    await end();
    server.close();
  });
});

describe("a server at another port than the one that", () => {
  const open: Server[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });
  const serve = async (type: string): Promise<number> => {
    const server = createHttpServer((_, response) => response.setHeader("content-type", type).end("x"));
    open.push(server);
    return portOf(server);
  };
  const mute = async (): Promise<number> => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("no HTTP"));
    open.push(server);
    return portOf(server);
  };

  it("was named is followed if it has a page, and left for the named one as soon as that answers", async () => {
    const ports = new Map([
      [2, await mute()],
      [3, await serve("text/html; charset=utf-8")],
    ]);
    const scene = { portOf: (port: number) => ports.get(port) ?? null, listening: () => [...ports.keys()] };
    const { clock, told, moreLooks, end } = watch(scene);
    clock.ms = otherPortMs.pageAfter - 1;
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = otherPortMs.pageAfter;
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["3 answers"]);
    ports.set(1, await serve("text/plain"));
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["3 answers", "1 answers"]);
    await end();
  });

  it("was named is followed without a page only after a while: what serves data often starts first", async () => {
    const data = await serve("application/json");
    const scene = { portOf: (port: number) => (port === 2 ? data : null), listening: () => [2] };
    const { clock, told, moreLooks, end } = watch(scene);
    clock.ms = otherPortMs.anyAfter - 1;
    await moreLooks();
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = otherPortMs.anyAfter + otherPortMs.each;
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["2 answers"]);
    await end();
  });

  it("is likely wins with a page over that one without, at once and later", async () => {
    const ports = new Map([
      [1, await serve("application/json")],
      [2, await serve("text/html")],
    ]);
    const scene = {
      portOf: (port: number) => ports.get(port) ?? null,
      isNamed: false,
      listening: () => [...ports.keys()],
    };
    const first = watch(scene);
    await expect.poll(() => first.told, { timeout: 20_000 }).toEqual(["2 answers"]);
    await first.end();
    const page = ports.get(2) ?? 0;
    ports.delete(2);
    const { told, end } = watch(scene);
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["1 answers"]);
    ports.set(2, page);
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["1 answers", "2 answers"]);
    await end();
  });

  it("was named and that speaks no HTTP is named when its time is over", async () => {
    const port = await mute();
    const scene = { portOf: (each: number) => (each === 2 ? port : null), listening: () => [2] };
    const { clock, told, end } = watch(scene);
    clock.ms = startWithinMs;
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["1 closed [2]"]);
    await end();
  });
});

const logs = "<i> [webpack-dev-server] Project is running at:";

describe("hints of a preview", () => {
  it("tell of webpack-dev-server's own port, unless the command names another address", () => {
    expect(hintsOf("npx webpack serve", logs, null)).toEqual([expect.stringContaining("--client-web-socket-url")]);
    expect(hintsOf("npx webpack serve --client-web-socket-url auto://0.0.0.0:0/ws", logs, null)).toEqual([]);
    expect(hintsOf("npx vite", "VITE ready", null)).toEqual([]);
  });
});

describe("the port of a preview", () => {
  it("is told of only where another one was named than the command serves at", () => {
    expect(otherPortNote({ port: 3000, isPortNamed: true }, 5173)).toContain("not listen on port 3000 but on 5173");
    expect(otherPortNote({ port: 3000, isPortNamed: true }, 3000)).toBe(null);
    expect(otherPortNote({ port: 3000, isPortNamed: false }, 5173)).toBe(null);
  });

  it("that stays closed is told of with those that are open and speak no HTTP", () => {
    const silent = { state: "closed", port: 3000, others: [5432, 9000], hasAnswered: false } as const;
    expect(silenceOf(silent).message).toContain("What listens on 5432, 9000 does not answer in HTTP.");
    expect(silenceOf({ ...silent, others: [] }).message).not.toContain("What listens");
    expect(silenceOf({ ...silent, port: 5173, hasAnswered: true }).message).toBe(
      "Port 5173 of the preview answers no more.",
    );
  });
});
