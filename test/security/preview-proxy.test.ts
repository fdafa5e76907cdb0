import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { answering, openPreviewScene, type PreviewScene } from "../helpers/preview-scene.ts";
import { until } from "../helpers/until.ts";

const hostOf = ({ direct }: PreviewScene): string => `Host: ${direct.host}\r\n`;

describe("a hostile program behind the proxy of previews", () => {
  it.each([
    ["no status line", "<html>hello</html>"],
    ["a header of 200 kB", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(200_000)}\r\n\r\n`],
    ["endless interim answers", `${"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n".repeat(5_000)}HTTP/1.1 200 OK\r\n\r\n`],
    ["a status that is none", "HTTP/1.1 042 What\r\n\r\n"],
    ["a line end within a value", "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b=c\r\n\r\n"],
    ["NUL within a value", "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\nok"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["another protocol, unasked", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes"],
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nContent-"],
  ])("%s is 502 for that exchange alone", async (_, bytes) => {
    let isHostile = true;
    using scene = await openPreviewScene((socket) => {
      if (isHostile) answering(bytes)(socket);
      else answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")(socket);
    });
    const answer = await scene.ask("/");
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toMatchObject({ error_type: "NETWORK_ERROR" });
    isHostile = false;
    expect((await scene.ask("/")).text).toBe("ok");
  });

  it("one that breaks off its answer breaks off the browser's, which is not taken for whole", async () => {
    using scene = await openPreviewScene(answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"));
    await expect(scene.ask("/")).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });

  it("what it says behind its answer is not another one", async () => {
    const two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    using scene = await openPreviewScene(answering(two));
    const first = `GET /1 HTTP/1.1\r\n${hostOf(scene)}\r\n`;
    const second = `GET /2 HTTP/1.1\r\n${hostOf(scene)}Connection: close\r\n\r\n`;
    const text = await scene.raw(first, second);
    expect(text).not.toContain("evil");
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    // One that does not wait for the first answer is not served.
    const pipelined = await scene.raw(`${first}${second}`);
    expect(pipelined).not.toContain("evil");
    expect(pipelined.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  });

  it("an endless answer continues as long as its reader takes it, and ends with the reader", async () => {
    let written = 0;
    const gone = Promise.withResolvers<void>();
    using scene = await openPreviewScene((socket) => {
      const piece = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "x"), Buffer.from("\r\n")]);
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const fill = (): void => {
          while (!socket.destroyed && socket.write(piece)) written += piece.length;
        };
        socket.on("drain", fill);
        fill();
      });
      socket.once("close", () => gone.resolve());
    });
    const reader = new AbortController();
    const answer = await fetch(scene.direct, { signal: reader.signal });
    const stream = answer.body?.getReader();
    expect(await stream?.read()).toMatchObject({ done: false });
    // Reading has stopped: what is in transit is bounded by buffers.
    await until(async () => {
      const before = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return written === before;
    });
    reader.abort();
    await gone.promise;
  });
});

describe("hostile requests to the proxy of previews", () => {
  /** Which requests reach the program. */
  async function listening(): Promise<{ readonly scene: PreviewScene; readonly seen: string[] }> {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      request.resume().on("end", () => response.end("ok"));
    });
    return { scene: await openPreviewScene(server), seen };
  }

  it.each([
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["an unknown framing", "POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["two framings", "POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["two Hosts", "GET / HTTP/1.1\r\nHOST\r\nHost: evil.example\r\n\r\n"],
    ["a whole URL", "GET http://evil.example/ HTTP/1.1\r\nHOST\r\n\r\n"],
    ["no path", "OPTIONS * HTTP/1.1\r\nHOST\r\n\r\n"],
    ["a folded header", "GET / HTTP/1.1\r\nHOST\r\nX: a\r\n b\r\n\r\n"],
  ])("%s is refused and reaches no program", async (_, text) => {
    const { scene, seen } = await listening();
    const host = `Host: ${scene.direct.host}\r\nConnection: close`;
    expect(await scene.raw(text.replace("HOST", host))).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
    scene.end();
  });

  it("a body is one, whatever it looks like", async () => {
    const { scene, seen } = await listening();
    const inner = "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n";
    const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    const head = `${hostOf(scene)}Connection: close\r\n`;
    const answer = await scene.raw(`GET /a HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${chunked}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    // Not even if a header claims that the length belongs to the connection.
    const named = `Content-Length: ${inner.length}\r\nConnection: close, content-length, host\r\n`;
    await scene.raw(`POST /b HTTP/1.1\r\n${hostOf(scene)}${named}\r\n${inner}`);
    expect(seen).toEqual(["GET /a", "POST /b"]);
    scene.end();
  });

  it("only its own names lead to a preview's listener", async () => {
    const { scene, seen } = await listening();
    const { host, port } = scene.direct;
    const [token = ""] = scene.url.hostname.split(".");
    const foreign = [
      ...["evil.example", `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, "127.0.0.1:1", `0.0.0.0:${port}`],
      ...[`${token}.localhost.evil:${port}`, `a.${token}.localhost`, `${token}..localhost`, `${token}.localhost.`],
      ...[`${"0".repeat(32)}.localhost:${port}`, token, `${token}@localhost`, `${token}.127.0.0.1:${port}`],
    ];
    for (const each of foreign)
      expect([each, (await scene.ask("/", { headers: { host: each } })).status]).toEqual([each, 403]);
    expect(seen).toEqual([]);
    const own = [host, `LOCALHOST:${port}`, `${token}.localhost:${port}`, `${token.toUpperCase()}.LocalHost`];
    for (const each of own) expect((await scene.ask("/", { headers: { host: each } })).status).toBe(200);
    scene.end();
  });
});

describe("what a preview's program and page see", () => {
  async function reflecting(): Promise<PreviewScene> {
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      const at = (where: string): string => where.replace("PORT", String(port));
      const cookies = ["a=1; Domain=localhost; Path=/", "b=2; HttpOnly; domain = .localhost;Secure", "c=domain=x"];
      if (request.url?.startsWith("/to?") === true)
        response.writeHead(302, { location: at(decodeURIComponent(request.url.slice(4))) }).end();
      else if (request.url === "/cookies") response.writeHead(200, { "set-cookie": cookies }).end();
      else
        response
          .writeHead(200, { "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin" })
          .end(JSON.stringify(request.headers));
    });
    return openPreviewScene(server);
  }

  it("requests come from localhost and the program's own port, without hop-by-hop fields", async () => {
    using scene = await reflecting();
    const { host } = scene.url;
    const headers = {
      ...{ host, origin: `http://${host}`, referer: `http://${host}/a?b`, cookie: "x=1" },
      ...{ connection: "x-secret, close", "x-secret": "1", "proxy-authorization": "1", te: "trailers" },
      ...{ forwarded: "for=1.2.3.4", "x-forwarded-host": "evil", "x-real-ip": "1", authorization: "Bearer gbx_key" },
    };
    const { headers: told, text } = await scene.ask("/", { headers });
    expect(JSON.parse(text)).toEqual({
      ...{ host: scene.inner, origin: `http://${scene.inner}`, referer: `http://${scene.inner}/a?b`, cookie: "x=1" },
      connection: "close",
    });
    // Ours are not added, and its own are kept.
    expect([told["x-frame-options"], told["cross-origin-opener-policy"]]).toEqual(["DENY", "same-origin"]);
    expect(told["access-control-allow-origin"]).toBeUndefined();
    const foreign = await scene.ask("/", {
      headers: { host, origin: "https://evil.example", authorization: "Basic x" },
    });
    expect(JSON.parse(foreign.text)).toMatchObject({ origin: "https://evil.example", authorization: "Basic x" });
  });

  it("redirects to itself lead to the preview, others where they say", async () => {
    using scene = await reflecting();
    const to = async (where: string): Promise<string | undefined> =>
      (await scene.ask(`/to?${encodeURIComponent(where)}`)).headers.location;
    const own = `http://${scene.direct.host}`;
    expect(await to("http://localhost:PORT/a?b#c")).toBe(`${own}/a?b#c`);
    expect(await to("http://0.0.0.0:PORT//evil.example/")).toBe(`${own}//evil.example/`);
    expect(await to("/plain")).toBe("/plain");
    expect(await to("https://evil.example/x")).toBe("https://evil.example/x");
    expect(await to("http://localhost:1/x")).toBe("http://localhost:1/x");
  });

  it("cookies are for this preview alone", async () => {
    using scene = await reflecting();
    expect((await scene.ask("/cookies")).headers["set-cookie"]).toEqual([
      "a=1; Path=/",
      "b=2; HttpOnly;Secure",
      "c=domain=x",
    ]);
  });

  it("streamed output arrives as it is written, before there is more", async () => {
    const next = Promise.withResolvers<void>();
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      void next.promise.then(() => response.end("data: 2\n\n"));
    });
    using scene = await openPreviewScene(server);
    const reader = (await fetch(scene.direct)).body?.getReader();
    const read = async (): Promise<string> => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await read()).toBe("data: 1\n\n");
    next.resolve();
    expect(await read()).toBe("data: 2\n\n");
  });

  it("before it answers, a page of ours says so, retries by itself and may be framed", async () => {
    let isStarting = true;
    using scene = await openPreviewScene(answering(""), { isOpen: () => false, isStarting: () => isStarting });
    const page = await scene.ask("/", { headers: { accept: "text/html" } });
    expect([page.status, page.headers["retry-after"], page.text]).toEqual([
      ...[503, "1"],
      expect.stringContaining('http-equiv="refresh"'),
    ]);
    expect(Object.keys(page.headers)).not.toContain("x-frame-options");
    expect(Object.keys(page.headers)).not.toContain("content-security-policy");
    isStarting = false;
    expect((await scene.ask("/")).status).toBe(502);
  });
});

describe("requests of previews under /api", () => {
  it("are refused without a backend, and the answer names the setting", async () => {
    using scene = await openPreviewScene(answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    for (const path of ["/api", "/api/", "/api/users?x", "/api?x"]) {
      const { status, text } = await scene.ask(path);
      expect([status, text]).toEqual([502, expect.stringContaining("GLOVEBOX_PREVIEW_BACKEND")]);
    }
    for (const path of ["/apis", "/x/api/", "/%61pi/"]) expect((await scene.ask(path)).text).toBe("ok");
  });

  it("go to the backend with the page's own origin, and nowhere else", async () => {
    const backend = createServer((request, response) =>
      response.end(`${request.url} ${request.headers.host} ${request.headers.origin}`),
    );
    await once(backend.listen(0, "127.0.0.1"), "listening");
    const { port } = backend.address() as AddressInfo;
    using scene = await openPreviewScene(answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), {
      backend: `http://127.0.0.1:${port}`,
    });
    const origin = scene.direct.origin;
    const answer = await scene.ask("/api/users?x=1", { headers: { origin } });
    expect(answer.text).toBe(`/api/users?x=1 127.0.0.1:${port} ${origin}`);
    for (const path of ["/api/../admin", "/api/%2e%2E/admin", "/api/x%2f..%2fadmin", "/api/..\\admin"])
      expect([path, (await scene.ask(path)).status]).toEqual([path, 400]);
    backend.close();
    backend.closeAllConnections();
    await until(async () => (await scene.ask("/api/users")).status === 502);
  });
});

it("guessed tokens open nothing, and are answered like those of previews that have ended", async () => {
  using scene = await openPreviewScene(answering("HTTP/1.1 200 OK\r\n\r\n"));
  const [token = ""] = scene.url.hostname.split(".");
  const isTaken = (host: string): boolean => scene.gateway.takes({ headers: { host } } as IncomingMessage);
  const others = [
    `${token}.localhost.evil`,
    `x.${token}.localhost`,
    "localhost",
    "127.0.0.1:1",
    token,
    `${token}.local`,
  ];
  expect(others.map(isTaken)).toEqual(others.map(() => false));
  expect([isTaken(`${token}.localhost`), isTaken(`${"0".repeat(32)}.LOCALHOST:80`)]).toEqual([true, true]);
});
