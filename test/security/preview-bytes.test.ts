import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { answering, openPreviewScene, type PreviewScene } from "../helpers/preview-scene.ts";

/** What a browser sends, to which the answer ends the connection. */
const ask = (scene: PreviewScene, line = "GET /", more = ""): Promise<string> =>
  scene.raw(`${line} HTTP/1.1\r\nHost: ${scene.direct.host}\r\nConnection: close\r\n${more}\r\n`);

/** One character for each byte, as heads are written here. */
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

/** Answers each request with these lines, and keeps what it got. */
function keeping(answer: string, heads: string[]): (socket: Socket) => void {
  return (socket) => {
    let head = "";
    socket.on("data", (bytes) => {
      head += bytes.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      heads.push(head);
      socket.end(answer, "latin1");
    });
  };
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("the bytes of a preview's answers", () => {
  it.each([
    ["302 Found", `Location: ${utf8("/café/☃")}`],
    ["302 Found", "Location: //evil.example/a%20b"],
    ["302 Found", "Location: /\\evil.example"],
    ["200 OK", `Set-Cookie: ${utf8("name=Zoë")}; Path=/`],
    ["200 OK", `ETag: ${utf8('"é☃"')}`],
    ["200 OK", `Content-Disposition: attachment; filename="${utf8("résumé.pdf")}"`],
    ["200 OK", 'Content-Disposition: attachment; filename="r\xe9sum\xe9.pdf"'],
    ["200 OK", `content-disposition: attachment; filename="${utf8("☃")}"`],
    ["200 OK", "x-AUTHOR: Zo\xeb\x80\xff"],
    ["200 Sch\xf6n gemacht", "X: 1"],
    ["299 ", "X: 1"],
    ["404 Nicht da", "X: a  b\tc"],
  ])("are those of the program: %s with %s", async (status, header) => {
    // A length before it, as most programs send it, and none.
    const heads = [`${header}\r\nContent-Length: 2`, `Content-Length: 2\r\n${header}`, header];
    for (const each of heads) {
      using scene = await openPreviewScene(answering(`HTTP/1.1 ${status}\r\n${each}\r\nConnection: close\r\n\r\nok`));
      const lines = (await ask(scene)).split("\r\n");
      expect(lines[0]).toBe(`HTTP/1.1 ${status}`);
      expect(lines.filter((line) => line === header)).toHaveLength(1);
    }
  });

  it("hold headers in their order, however many they are", async () => {
    const links = Array.from({ length: 1_500 }, (_, index) => `${index % 2 === 0 ? "Link" : "Vary"}: ${index}`);
    using scene = await openPreviewScene(answering(`HTTP/1.1 200 OK\r\n${links.join("\r\n")}\r\n\r\nok`));
    const lines = (await ask(scene)).split("\r\n");
    expect(lines.filter((line) => /^(?:Link|Vary): /.test(line))).toEqual(links);
  });

  it.each([
    ["HEAD /", "200 OK\r\nContent-Length: 5", "Content-Length: 5"],
    ["HEAD /", "200 OK\r\nTransfer-Encoding: chunked", "Referrer-Policy: same-origin"],
    ["GET /", "204 No Content\r\nContent-Length: 5", "Referrer-Policy: same-origin"],
    ["GET /", `304 Not Modified\r\nETag: ${utf8('"é"')}\r\nContent-Length: 5`, "Content-Length: 5"],
  ])("have no body for %s with %s, even if the program sends one", async (line, answer, last) => {
    using scene = await openPreviewScene(answering(`HTTP/1.1 ${answer}\r\n\r\nhello`));
    const [head = "", body] = (await ask(scene, line)).split("\r\n\r\n");
    expect([head.split("\r\n")[0], body]).toEqual([`HTTP/1.1 ${answer.split("\r\n")[0]}`, ""]);
    expect(head).toContain(last);
    expect(head).not.toMatch(/204[^]*content-length|transfer-encoding/i);
  });

  it("are whole without early hints and trailers, which are not passed on", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    const chunks = "2\r\nok\r\n0\r\nSet-Cookie: late=1\r\nX-Sum: 1\r\n\r\n";
    const text = `${hints}HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
    using scene = await openPreviewScene(answering(text));
    const answer = await ask(scene);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n2\r\nok\r\n0\r\n\r\n$/);
    expect(answer).not.toMatch(/ 10[23] |Trailer|late|X-Sum/);
  });

  it.each(["200 a\x01b", "200 a\x7fb", "200 OK\r\nX: a\x01b", "042 What"])(
    "never begin as one answer and end as another: %j",
    async (start) => {
      using scene = await openPreviewScene(answering(`HTTP/1.1 ${start}\r\n\r\n`));
      expect(await ask(scene)).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    },
  );

  it.each(["gzip", "chunked, chunked", "gzip, chunked", "identity", "xchunked"])(
    "are none with the framing %s",
    async (encoding) => {
      const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${encoding}\r\n\r\n2\r\nok\r\n0\r\n\r\n`;
      using scene = await openPreviewScene(answering(text));
      expect(await ask(scene)).toMatch(/^HTTP\/1\.1 502 /);
    },
  );

  it("are whole with a head of 60 kB, and an error that says so beyond 64 KiB", async () => {
    const long = (length: number): string =>
      `HTTP/1.1 200 OK\r\nX: ${"x".repeat(length)}\r\nContent-Length: 2\r\n\r\nok`;
    using scene = await openPreviewScene(answering(long(60_000)));
    expect(await ask(scene)).toContain("x".repeat(60_000));
    using other = await openPreviewScene(answering(long(70_000)));
    expect(await ask(other)).toMatch(/^HTTP\/1\.1 502 [^]*headers of more than 64 KiB/);
  });
});

describe("the bytes of requests to a preview", () => {
  it("are those of the browser", async () => {
    const heads: string[] = [];
    using scene = await openPreviewScene(keeping(ok, heads));
    const own = [
      ...[`Cookie: ${utf8("name=Zoë☃")}`, "cookie: b=\xe9", "X-Name: \x80\xff", "x-UPPER: 1", "Accept: a", "Accept: b"],
      `If-None-Match: ${utf8('"é"')}`,
    ];
    await ask(scene, "GET //host/path?a=%C3%A9&b", `${own.join("\r\n")}\r\n`);
    const lines = (heads[0] ?? "").split("\r\n");
    expect(lines[0]).toBe("GET //host/path?a=%C3%A9&b HTTP/1.1");
    expect(lines.slice(2, 2 + own.length)).toEqual(own);
    // With a body, too.
    await ask(scene, "POST /", `${own.join("\r\n")}\r\nContent-Length: 0\r\n`);
    expect((heads[1] ?? "").split("\r\n").slice(2, 2 + own.length)).toEqual(own);
  });

  it("pass in heads of 64 KiB and are 431 beyond, in words of a preview", async () => {
    const heads: string[] = [];
    using scene = await openPreviewScene(keeping(ok, heads));
    const sized = async (bytes: number, more = ""): Promise<string> => {
      const head = `GET / HTTP/1.1\r\nHost: ${scene.direct.host}\r\nConnection: close\r\n${more}X: \r\n\r\n`;
      return scene.raw(head.replace("X: ", `X: ${"x".repeat(bytes - head.length)}`));
    };
    expect(await sized(65_536)).toMatch(/^HTTP\/1\.1 200 /);
    expect(heads[0]).toContain("x".repeat(65_000));
    for (const bytes of [65_537, 66_000, 200_000]) {
      const [head = "", body = ""] = (await sized(bytes)).split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
      expect(JSON.parse(body)).toMatchObject({
        error_type: "INVALID_REQUEST",
        message: expect.stringContaining("preview accepts (64 KiB)"),
        suggestion: expect.stringContaining("cookies"),
      });
    }
    expect(await sized(65_537, "Accept: text/html\r\n")).toMatch(/^HTTP\/1\.1 431 [^]*<h1>Preview<\/h1>/);
    // As many headers as fit.
    await ask(scene, "GET /", "a: b\r\n".repeat(5_000));
    expect(heads.at(-1)?.match(/\r\na: b/g)).toHaveLength(5_000);
    expect(heads).toHaveLength(2);
  });
});
