import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { makeKey } from "../../src/keys/key-record.ts";
import { Tickets } from "../../src/http/authentication.ts";
import { openBrowser } from "../helpers/browser.ts";
import { until } from "../helpers/until.ts";
import { answering, openPreviewScene, type PreviewScene } from "../helpers/preview-scene.ts";

/** The form of the token in its file; each of its bytes is high, so that its base64 has other characters, too. */
const token = Buffer.alloc(32, 0xfb).toString("base64url");
const key = makeKey((count) => Buffer.alloc(count, 7)).text;
const ticket = new Tickets(() => 0).make({ principal: "local" });

/** A server that keeps every header and address that it gets. */
function recording(seen: string[]): Server {
  return createServer((request, response) => {
    seen.push(request.url ?? "", ...request.rawHeaders);
    response.end("ok");
  });
}

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

describe("the name of a preview, which opens it", () => {
  const policyOf = async (headers: string): Promise<readonly string[]> => {
    using scene = await openPreviewScene(answering(`HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\nok`));
    const text = await scene.raw(`GET / HTTP/1.1\r\nHost: ${scene.direct.host}\r\nConnection: close\r\n\r\n`);
    return [...text.matchAll(/^referrer-policy: (.*)\r$/gim)].map(([, policy = ""]) => policy);
  };

  it.each([
    ["", "same-origin"],
    ["Referrer-Policy: unsafe-url\r\n", "same-origin"],
    ["referrer-policy: ORIGIN\r\n", "same-origin"],
    ["Referrer-Policy: strict-origin-when-cross-origin\r\n", "same-origin"],
    ["Referrer-Policy: no-referrer\r\n", "no-referrer"],
    ["Referrer-Policy: unsafe-url, No-Referrer\r\n", "no-referrer"],
    ["Referrer-Policy: no-referrer\r\nReferrer-Policy: unsafe-url\r\n", "same-origin"],
    ["Referrer-Policy: no-referrer, unknown\r\n", "no-referrer"],
    ["Referrer-Policy: no-referrer, origin\r\nX: 1\r\nREFERRER-POLICY: \r\n", "same-origin"],
    ["Referrer-Policy: unsafe-url\r\nConnection: referrer-policy\r\n", "same-origin"],
  ])("leaves with no request of a page with %j: the one policy is %s", async (headers, policy) => {
    expect(await policyOf(headers)).toEqual([policy]);
  });

  it("leaves with no redirect, no answer without a body and no page of ours", async () => {
    using scene = await openPreviewScene(answering("HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\n\r\n"));
    expect((await scene.ask("/")).headers["referrer-policy"]).toBe("same-origin");
    using cached = await openPreviewScene(answering("HTTP/1.1 304 Not Modified\r\n\r\n"));
    expect((await cached.ask("/")).headers["referrer-policy"]).toBe("same-origin");
    using broken = await openPreviewScene(answering("no HTTP"));
    const page = await broken.ask("/", { headers: { accept: "text/html" } });
    expect([page.status, page.headers["referrer-policy"]]).toEqual([502, "no-referrer"]);
  });

  it("reaches no other origin from a browser, by its page, style, redirect or link", async (context) => {
    await using browser = await openBrowser(context);
    const asked: IncomingMessage[] = [];
    const other = createServer((request, response) => {
      asked.push(request);
      response.end();
    });
    const elsewhere = `http://127.0.0.1:${await listening(other)}`;
    const lax = { "referrer-policy": "unsafe-url" };
    const own: IncomingMessage[] = [];
    const program = createServer((request, response) => {
      own.push(request);
      if (request.url === "/style.css") response.writeHead(200, { ...lax, "content-type": "text/css" });
      else if (request.url === "/away") response.writeHead(302, { ...lax, location: `${elsewhere}/redirect` });
      else response.writeHead(200, { ...lax, "content-type": "text/html" });
      if (request.url === "/style.css") return response.end(`body { background: url(${elsewhere}/style) }`);
      const links = `<link rel="stylesheet" href="/style.css"><link rel="prefetch" href="${elsewhere}/prefetch">`;
      return response.end(
        `<!doctype html>${links}<img src="${elsewhere}/img"><img src="/away"><a href="${elsewhere}/a">a</a>`,
      );
    });
    using scene = await openPreviewScene(program);
    const tab = await browser.newPage();
    await tab.goto(scene.url.href);
    await until(() => ["/style", "/redirect", "/img"].every((path) => asked.some(({ url }) => url === path)));
    await tab.click("a", { force: true });
    await until(() => asked.some(({ url }) => url === "/a"));
    // Its page asks for its own icon.
    const foreign = asked.filter(({ headers }) => headers.referer?.startsWith(elsewhere) !== true);
    const told = foreign.map(({ url, headers }) => [url, headers.referer, headers.origin]);
    expect(told.filter(([, referer, origin]) => referer !== undefined || origin !== undefined)).toEqual([]);
    // Its own program still knows where it was asked from.
    expect(own.find(({ url }) => url === "/style.css")?.headers.referer).toBe(`http://${scene.inner}/`);
    other.closeAllConnections();
    other.close();
  });

  it("is reported to no other origin", async () => {
    const headers = [
      'Reporting-Endpoints: a="https://evil.example/r"',
      'Report-To: {"endpoints":[{"url":"https://evil.example/r"}]}',
      'NEL: {"report_to":"a"}',
      "Content-Security-Policy: default-src 'self'; report-uri /own //evil.example/r; img-src *",
      "content-security-policy-report-only: report-uri https://evil.example/r, script-src 'self'",
      "Content-Security-Policy: font-src 'self';report-uri /own ; report-to a",
    ];
    using scene = await openPreviewScene(answering(`HTTP/1.1 200 OK\r\n${headers.join("\r\n")}\r\n\r\n`));
    const text = await scene.raw(`GET / HTTP/1.1\r\nHost: ${scene.direct.host}\r\nConnection: close\r\n\r\n`);
    expect(text).not.toMatch(/evil|^nel|^report/im);
    expect([...text.matchAll(/^content-security.*: (.*)\r$/gim)].map(([, policy]) => policy)).toEqual([
      "default-src 'self';; img-src *",
      ", script-src 'self'",
      "font-src 'self';report-uri /own ; report-to a",
    ]);
  });

  it("reaches no program but its own, and not the backend's logs", async () => {
    const seen: string[] = [];
    const apart: string[] = [];
    const backend = recording(apart);
    const port = await listening(backend);
    using scene = await openPreviewScene(recording(seen), { backend: `http://127.0.0.1:${port}` });
    const other = `${"0123456789abcdef".repeat(2)}.localhost`;
    const { host } = scene.url;
    for (const [referer, origin] of [
      [`http://${other}:8420/page`, `http://${other}:8420`],
      [`https://user:pw@${other.toUpperCase()}`, `https://${other}`],
      [`http://${scene.url.hostname}:1/a`, `http://${scene.url.hostname}`],
    ] as const) {
      const headers = { host, referer, origin };
      await scene.ask("/", { headers });
      await scene.ask("/api/x", { headers });
    }
    expect([...seen, ...apart].filter((text) => text.toLowerCase().includes(".localhost"))).toEqual([]);
    expect(seen.filter((text) => text === "null")).toHaveLength(3);
    await scene.ask("/api/x", { headers: { host, referer: `http://${host}/page`, origin: `http://${host}` } });
    expect(apart.filter((text) => text.includes(host))).toEqual([`http://${host}`]);
    backend.close();
  });
});

describe("credentials of ours", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const forms: readonly (readonly [string, (secret: string) => string])[] = [
    ["Authorization", (secret) => `Bearer ${secret}`],
    ["authorization", (secret) => `bearer  ${secret}`],
    ["AUTHORIZATION", (secret) => `Token token="${secret}"`],
    ["Authorization", (secret) => `Basic ${base64(`user:${secret}`)}`],
    ["Authorization", (secret) => `basic ${base64(`${secret}:`)}`],
    ["Proxy-Authorization", (secret) => `Bearer ${secret}`],
    ["X-API-Key", (secret) => secret],
    ["Cookie", (secret) => `a=1; token=${secret}`],
    ["Cookie", (secret) => `t=${secret.replaceAll("_", "%5F").replaceAll("-", "%2d")}`],
    ["Sec-WebSocket-Protocol", (secret) => `graphql, bearer.${secret}`],
    ["Sec-WebSocket-Protocol", (secret) => `base64url.bearer.x.${Buffer.from(secret).toString("base64url")}`],
    ["X-Session", (secret) => `s-${base64(secret)}`],
    ["Referer", (secret) => `http://localhost:8420/?token=${secret}`],
    ["traceparent", (secret) => secret],
  ];

  it("reach neither a program nor the backend, in whatever header they are", async () => {
    const seen: string[] = [];
    const backend = recording(seen);
    const port = await listening(backend);
    using scene = await openPreviewScene(recording(seen), { backend: `http://127.0.0.1:${port}`, token });
    for (const secret of [token, key, ticket])
      for (const [name, form] of forms)
        for (const path of ["/", "/api/x"]) {
          seen.length = 0;
          expect((await scene.ask(path, { headers: { [name]: form(secret), "x-other": "1" } })).status).toBe(200);
          const names = seen.filter((_, index) => index % 2 === 1).map((text) => text.toLowerCase());
          expect([name, form(secret), names]).toEqual([name, form(secret), ["host", "x-other", "connection"]]);
        }
    backend.close();
  });

  it("are refused in an address, by HTTP and as a WebSocket", async () => {
    const seen: string[] = [];
    using scene = await openPreviewScene(recording(seen), { token });
    for (const secret of [token, key, ticket, encodeURIComponent(base64(`:${key}`)), token.replaceAll("-", "%2D")])
      for (const path of [`/?token=${secret}`, `/a/${secret}/b`, `/#${secret}`]) {
        const { status, text } = await scene.ask(path);
        expect([path, status, text]).toEqual([path, 400, expect.stringContaining("credential of Glovebox")]);
      }
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    const text = await scene.raw(`GET /?ticket=${ticket} HTTP/1.1\r\nHost: ${scene.direct.host}\r\n${upgrade}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
  });

  it("are not seen in what is a project's own", async () => {
    const seen: string[] = [];
    using scene = await openPreviewScene(recording(seen), { token });
    const own = {
      authorization: `Bearer ${"a".repeat(43)}`,
      cookie: "gbx_theme=dark; tkt-1=2",
      "x-api-key": base64("user:password-of-the-project-itself"),
    };
    await scene.ask("/gbx_/%zz", { headers: own });
    for (const value of Object.values(own)) expect(seen).toContain(value);
  });
});

describe("requests under /api", () => {
  const upwards = [
    ...["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%25252e.", "..;", "..;x=1", "%2e%2e;", "%2e%2e%3bx", ".;.."],
    ...[
      "..%00",
      "..%09",

      "..%20",
      "%20..",
      ".%20.",
      "...",
      "%c0%ae%c0%ae",
      "%e0%80%ae.",
      "%ef%bc%8e%ef%bc%8e",
    ],
    ...["%u002e%u002e", "%2", "%", `%${"25".repeat(6)}`, ";/..", "a;b/..", "%e2%80%a6"],
  ];
  const joined = [
    "/api/x/PART/admin",
    "/api/PART/admin",
    "/api/PART",
    "/api/x%2fPART%2fadmin",
    "/api/x%5cPART%5cadmin",
  ];

  it("that any server could read as one outside are refused", async () => {
    const seen: string[] = [];
    const backend = recording(seen);
    const port = await listening(backend);
    using scene = await openPreviewScene(recording([]), { backend: `http://127.0.0.1:${port}` });
    const refused = upwards.flatMap((part) => joined.map((path) => path.replace("PART", part)));
    refused.push(
      "/api/x%255c..%255cadmin",
      "/api/a\\b",
      "/api/a#/../../x",
      "/api/a%252f%252e%252e%252fb",
      "/api/%ef%bc%8f..",
    );
    for (const path of refused) expect([path, (await scene.ask(path)).status]).toEqual([path, 400]);
    expect(seen).toEqual([]);
    const allowed = [
      ...[
        "/api/a..b",
        "/api/.well-known",
        "/api/a;b=..",
        "/api/group%2Fproject",
        "/api/100%25",
        "/api/caf%C3%A9?x=../..",
      ],
      ...["/api//host/x", "/api/a.b/..c", "/api?next=%2e%2e%2f", "/api/a%5cb", "/api/%252520", "/api/%25%25%25"],
    ];
    for (const path of allowed) expect([path, (await scene.ask(path)).status]).toEqual([path, 200]);
    expect(seen.filter((text) => text.startsWith("/api"))).toEqual(allowed);
    backend.close();
  });
});

describe("two Hosts", () => {
  const asked = async (scene: PreviewScene, lines: string): Promise<string> =>
    (await scene.raw(`${lines}\r\nConnection: close\r\n\r\n`)).slice(0, 12);

  it("and addresses that name another are refused, whichever comes first", async () => {
    const seen: string[] = [];
    using scene = await openPreviewScene(recording(seen));
    const { host } = scene.direct;
    const bad = [
      `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}`,
      `GET / HTTP/1.1\r\nHost: evil.example\r\nhost: ${host}`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nX: 1\r\nHOST: ${scene.url.host}`,
      `GET http://${host}/ HTTP/1.1\r\nHost: ${host}`,
      `GET http://evil.example/ HTTP/1.1\r\nHost: ${host}`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: ${host}`,
      `POST / HTTP/1.0\r\nHost: ${host}\r\nTransfer-Encoding: chunked`,
      `GET / HTTP/1.1\r\nHost : ${host}`,
      `GET / HTTP/1.1`,
    ];
    for (const lines of bad) expect([lines, await asked(scene, lines)]).toEqual([lines, "HTTP/1.1 400"]);
    for (const foreign of [`user@${host}`, `${host}@evil.example`, `${host}:80`, `${host},${host}`, `${host}/`, ` `]) {
      const lines = `GET / HTTP/1.1\r\nHost: ${foreign}`;
      expect([lines, await asked(scene, lines)]).toEqual([lines, "HTTP/1.1 403"]);
    }
    expect(seen).toEqual([]);
    const isTaken = (text: string): boolean => scene.gateway.takes({ headers: { host: text } } as IncomingMessage);
    const confused = [`${scene.url.host}@evil`, `u@${scene.url.host}`, `${scene.url.host}:1`, `${scene.url.host}#`];
    expect(confused.filter(isTaken)).toEqual([]);
  });
});
