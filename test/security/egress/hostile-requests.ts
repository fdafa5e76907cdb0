/** What a program sends to the proxy, and what must happen to it. */
export interface HostileRequest {
  readonly send: readonly string[];
  /** `refused`: an answer of 400 or 403, or none, and nothing reaches the host; `passed`: one well-formed request does. */
  readonly becomes: "refused" | "passed";
  /** Part of the message to the program. */
  readonly says?: string;
}

const smuggled = (at: string): string => `GET http://${at}/smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n`;

/** Everything that can be read in two ways, by what it is; `at` is an allowed name with its port. */
export function hostileRequests(at: string): Readonly<Record<string, HostileRequest>> {
  const head = (method: string, ...lines: readonly string[]): string =>
    [`${method} http://${at}/ HTTP/1.1`, "Host: x", ...lines, "", ""].join("\r\n");
  const refused = (...send: readonly string[]): HostileRequest => ({ send, becomes: "refused" });
  const passed = (...send: readonly string[]): HostileRequest => ({ send, becomes: "passed" });
  const second = smuggled(at);
  const nominating = (name: string, ...lines: readonly string[]): HostileRequest => ({
    ...refused(head("GET", `Connection: ${name}`, ...lines) + second),
    says: `names ${name.split(",").at(-1)?.trim().toLowerCase()}`,
  });
  const framing = (lines: readonly string[], body: string, says = ""): HostileRequest => ({
    ...refused(head("POST", ...lines) + body),
    says,
  });
  const line = (text: string): HostileRequest => refused(`${text}\r\nHost: x\r\n\r\n${second}`);
  const connect = (target: string): HostileRequest => line(`CONNECT ${target} HTTP/1.1`);
  const name = at.split(":")[0] ?? "";
  const port = at.split(":")[1] ?? "";
  return {
    "a connection that names the length": nominating("content-length", `Content-Length: ${second.length}`),
    "a connection that names the length in capitals": nominating(
      "close, CONTENT-LENGTH",
      `Content-Length: ${second.length}`,
    ),
    "a connection that names the coding": nominating("Transfer-Encoding", "Transfer-Encoding: chunked"),
    "a connection that names the host": nominating("host"),
    "a connection that names the trailer": nominating("trailer", "Trailer: x"),
    "a connection that names what is the proxy's": nominating("proxy-authorization", "Proxy-Authorization: x"),
    "a connection that names itself": nominating("connection"),
    "a length and chunks": framing(
      [`Content-Length: ${second.length}`, "Transfer-Encoding: chunked"],
      `0\r\n\r\n${second}`,
    ),
    "chunks and a length": framing(["Transfer-Encoding: chunked", "Content-Length: 4"], `0\r\n\r\n${second}`),
    "two lengths": framing(["Content-Length: 0", `Content-Length: ${second.length}`], second),
    "the same length twice": framing(["Content-Length: 2", "Content-Length: 2"], "hi"),
    "a list of lengths": framing(["Content-Length: 2, 2"], "hi"),
    "a length with a plus": framing(["Content-Length: +2"], "hi"),
    "a negative length": framing(["Content-Length: -2"], "hi"),
    "a length in hexadecimal": framing(["Content-Length: 0x2"], "hi"),
    "a length that overflows": framing(["Content-Length: 18446744073709551618"], "hi"),
    "a length behind a space": framing([" Content-Length: 2"], "hi"),
    "a length before a colon and a space": framing(["Content-Length : 2"], "hi"),
    "another coding": framing(["Transfer-Encoding: gzip"], "hi"),
    "two codings": framing(["Transfer-Encoding: gzip, chunked"], "2\r\nhi\r\n0\r\n\r\n", "another Transfer-Encoding"),
    "chunked twice": framing(["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "2\r\nhi\r\n0\r\n\r\n"),
    "a coding before chunked": framing(["Transfer-Encoding: identity, chunked"], "2\r\nhi\r\n0\r\n\r\n"),
    "chunked with a tab": framing(["Transfer-Encoding:\tchunked", "Content-Length: 2"], "2\r\nhi\r\n0\r\n\r\n"),
    "chunks with HTTP/1.0": refused(
      `POST http://${at}/ HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    ),
    "a coding behind 1,100 fields": refused(
      `${head("POST", ...Array.from({ length: 2200 }, () => "X:"), "Transfer-Encoding: chunked")}0\r\n\r\n${second}`,
    ),
    "a folded field": refused(head("GET", "X: a", " b") + second),
    "a folded length": framing(["Content-Length:", " 2"], "hi"),
    "a field before a folded one": refused(head("GET", "\tX: a") + second),
    "bare LFs": refused(`GET http://${at}/ HTTP/1.1\nHost: x\n\n`),
    "a bare LF after a field": refused(`GET http://${at}/ HTTP/1.1\r\nHost: x\r\nX: a\nY: b\r\n\r\n`),
    "a bare CR in a field": refused(head("GET", "X: a\rContent-Length: 5")),
    "a bare CR after the first line": refused(`GET http://${at}/ HTTP/1.1\rHost: x\r\n\r\n`),
    "a NUL in a field": refused(head("GET", "X: a\0b")),
    "a control character in a field": refused(head("GET", "X: a\x01b")),
    "a DEL in a field": refused(head("GET", "X: a\x7fb")),
    "a NUL in a field's name": refused(head("GET", "X\0: a")),
    "a space in a field's name": refused(head("GET", "X Y: a")),
    "no colon in a field": refused(head("GET", "nothing")),
    "two hosts": refused(head("GET", "Host: y") + second),
    "three hundred fields": refused(head("GET", ...Array.from({ length: 300 }, () => "X: 1"))),
    "fields of 100 KB": refused(head("GET", `X: ${"a".repeat(100_000)}`)),
    "HTTP/0.9": refused(`GET http://${at}/\r\n`),
    "no version": refused(`GET http://${at}/\r\nHost: x\r\n\r\n`),
    "HTTP/2.0": line(`GET http://${at}/ HTTP/2.0`),
    "HTTP/1.2": line(`GET http://${at}/ HTTP/1.2`),
    "HTTP/11": line(`GET http://${at}/ HTTP/11`),
    "the preface of HTTP/2": refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "an unknown method": line(`SMUGGLE http://${at}/ HTTP/1.1`),
    "a method in lower case": line(`get http://${at}/ HTTP/1.1`),
    "a space in the target": line(`GET http://${at}/ /x HTTP/1.1`),
    "a tab in the target": line(`GET http://${at}/\tx HTTP/1.1`),
    "a NUL in the target": line(`GET http://${at}/\0 HTTP/1.1`),
    "a DEL in the target": line(`GET http://${at}/\x7f HTTP/1.1`),
    "a NUL in the name": line(`GET http://${name}\0.evil.test:${port}/ HTTP/1.1`),
    "a NUL before the name": line(`GET http://\0${at}/ HTTP/1.1`),
    "a control character in the name": line(`GET http://${name}\x01:${port}/ HTTP/1.1`),
    "a CR in the name": line(`GET http://${name}\r:${port}/ HTTP/1.1`),
    "an encoded NUL in the name": line(`GET http://${name}%00:${port}/ HTTP/1.1`),
    "a byte beyond ASCII in the name": line(`GET http://${name}\xe4:${port}/ HTTP/1.1`),
    "a soft hyphen in the name": line(`GET http://${name}\xad:${port}/ HTTP/1.1`),
    "CONNECT to a name with a NUL": connect(`${name}\0.evil.test:${port}`),
    "CONNECT to a name with a control character": connect(`${name}\x01:${port}`),
    "CONNECT to a name with a DEL": connect(`${name}\x7f:${port}`),
    "CONNECT to a name with an escape": connect(`${name}\x1b[2J:${port}`),
    "CONNECT to a name with a tab": connect(`${name}\t:${port}`),
    "CONNECT to an encoded NUL": connect(`${name}%00:${port}`),
    "CONNECT without a port": connect(name),
    "CONNECT with a path": connect(`${at}/x`),
    "CONNECT with a user": connect(`user@${at}`),
    "CONNECT in absolute form": connect(`http://${at}/`),
    "CONNECT with a length": refused(`CONNECT ${at} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`),
    "CONNECT with chunks": refused(`CONNECT ${at} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    "CONNECT with a length that the connection names": refused(
      `CONNECT ${at} HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\nContent-Length: 5\r\n\r\nhello`,
    ),
    "another host in its field": passed(head("GET").replace("Host: x", "Host: evil.test")),
    "a host with a path in its field": passed(head("GET").replace("Host: x", `Host: ${at}/x`)),
    "a body that GET does not need": passed(head("GET", `Content-Length: ${second.length}`) + second),
    "a body of chunks with GET": passed(
      `${head("GET", "Transfer-Encoding: chunked")}${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`,
    ),
    "chunks with extensions and trailers": passed(
      `${head("POST", "Transfer-Encoding: Chunked")}2;a="b"\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n`,
    ),
    "a length of nothing": passed(head("POST", "Content-Length: 0")),
    "a length with zeros": passed(`${head("POST", "Content-Length: 002")}hi`),
    "an upgrade": passed(head("GET", "Connection: Upgrade", "Upgrade: websocket")),
    "an upgrade to HTTP/2": passed(
      head("GET", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA"),
    ),
    "what a client expects of trailers": passed(head("GET", "Connection: TE", "TE: trailers")),
    "an expectation": passed(`${head("POST", "Expect: 100-continue", "Content-Length: 2")}hi`),
    "another expectation": refused(`${head("POST", "Expect: miracles", "Content-Length: 2")}hi`),
    "bytes beyond ASCII in a field": passed(head("GET", "X: \xe4")),
    "bytes beyond ASCII in the path": refused(`GET http://${at}/\xe4 HTTP/1.1\r\nHost: x\r\n\r\n`),
    "a fragment": passed(`GET http://${at}/a#b HTTP/1.1\r\nHost: x\r\n\r\n`),
    "a path that looks like a second target": passed(`GET http://${at}/http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n`),
    "a password for the proxy": passed(head("GET", "Proxy-Authorization: Basic eDp5", "Proxy-Connection: keep-alive")),
  };
}
