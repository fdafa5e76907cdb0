/** What a far side answers, and what must reach the client. */
export interface HostileAnswer {
  /** Sent one after another; then the connection is closed, unless it should stay open. */
  readonly pieces: readonly string[];
  /**
   * `refused`: a 502, or a connection that breaks off before anything was passed on; `broken`: the well-formed part is
   * passed on, then the connection breaks off; `passed`: the answer comes through in well-formed form.
   */
  readonly becomes: "refused" | "broken" | "passed";
  readonly staysOpen?: boolean;
  /** Part of the message to the client. */
  readonly says?: string;
}

const ok = "HTTP/1.1 200 OK\r\n";
const two = "Content-Length: 2\r\n\r\nhi";
const chunkedHead = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const refused = (...pieces: readonly string[]): HostileAnswer => ({ pieces, becomes: "refused" });
const broken = (...pieces: readonly string[]): HostileAnswer => ({ pieces, becomes: "broken" });
const passed = (...pieces: readonly string[]): HostileAnswer => ({ pieces, becomes: "passed" });
const status = (line: string, says = ""): HostileAnswer => ({ ...refused(`${line}\r\n${two}`), says });
const field = (line: string, says = ""): HostileAnswer => ({ ...refused(`${ok}${line}\r\n${two}`), says });

/** Every malformed status line, field, chunk and length, by what it is. */
export const hostileAnswers: Readonly<Record<string, HostileAnswer>> = {
  "status 099": status("HTTP/1.1 099 Low", "a status that is none"),
  "status 000": status("HTTP/1.1 000 Zero", "a status that is none"),
  "status 001": status("HTTP/1.1 001 One", "a status that is none"),
  "status 600": status("HTTP/1.1 600 High", "a status that is none"),
  "status 999": status("HTTP/1.1 999 High", "a status that is none"),
  "status of two digits": status("HTTP/1.1 20 OK"),
  "status of four digits": status("HTTP/1.1 2000 OK"),
  "negative status": status("HTTP/1.1 -20 OK"),
  "status in words": status("HTTP/1.1 OK OK"),
  "no status": status("HTTP/1.1"),
  "status in hexadecimal": status("HTTP/1.1 0xC8 OK"),
  "a control character in the reason": status("HTTP/1.1 200 O\x01K", "a control character in its reason"),
  "an escape in the reason": status("HTTP/1.1 200 \x1b]52;c;eA==\x07"),
  "a NUL in the reason": status("HTTP/1.1 200 O\0K"),
  "a DEL in the reason": status("HTTP/1.1 200 O\x7fK"),
  "a bare CR in the reason": status("HTTP/1.1 200 O\rK"),
  "bytes beyond ASCII in the reason": passed(`HTTP/1.1 200 \xc3\xa4\x9b\x80\r\n${two}`),
  "an empty reason": passed(`HTTP/1.1 200 \r\n${two}`),
  "HTTP/0.9": refused("just text"),
  "HTTP/2.0": status("HTTP/2.0 200 OK"),
  "HTTP/1.9": status("HTTP/1.9 200 OK"),
  "HTTP/9": status("HTTP/9 200 OK"),
  "another protocol": refused("SSH-2.0-OpenSSH_9.2\r\n"),
  TLS: refused("\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03"),
  nothing: refused(""),
  "half a status line": refused("HTTP/1.1 20"),
  "a head without an end": refused(`${ok}X: 1\r\n`),
  "a space in a field's name": field("X Y: 1"),
  "a space before a colon": field("X : 1"),
  "an empty field name": field(": 1"),
  "no colon": field("nothing"),
  "a NUL in a field's name": field("X\0Y: 1"),
  "a byte beyond ASCII in a field's name": field("X\xe4: 1"),
  "a parenthesis in a field's name": field("X(Y): 1"),
  "a NUL in a field": field("X: a\0b"),
  "a control character in a field": field("X: a\x01b"),
  "an escape in a field": field("X: \x1b[2J"),
  "a DEL in a field": field("X: a\x7fb"),
  "a bare CR in a field": field("X: a\rb"),
  "a bare LF after a field": refused(`${ok}X: a\n${two}`),
  "bare LFs": refused("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"),
  "bytes beyond ASCII in a field": passed(`${ok}X: \xe4\xf6\r\n${two}`),
  "a field of 100 KB": field(`X: ${"a".repeat(100_000)}`),
  "fields of 1 MB": field(Array.from({ length: 1000 }, (_, index) => `X-${index}: ${"a".repeat(1000)}`).join("\r\n")),
  "300 fields": field(Array.from({ length: 300 }, () => "X: 1").join("\r\n"), "more than 256 fields"),
  "2,500 fields and then a length": refused(
    `${ok}${"X:\r\n".repeat(2500)}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  ),
  "several lengths": field("Content-Length: 2"),
  "several lengths that differ": field("Content-Length: 3"),
  "a list of lengths": refused(`${ok}Content-Length: 2, 2\r\n\r\nhi`),
  "a negative length": refused(`${ok}Content-Length: -2\r\n\r\nhi`),
  "a length with a plus": refused(`${ok}Content-Length: +2\r\n\r\nhi`),
  "a length in hexadecimal": refused(`${ok}Content-Length: 0x2\r\n\r\nhi`),
  "a length with a fraction": refused(`${ok}Content-Length: 2.0\r\n\r\nhi`),
  "a length that overflows": refused(`${ok}Content-Length: 99999999999999999999999\r\n\r\nhi`),
  "an empty length": refused(`${ok}Content-Length: \r\n\r\nhi`),
  "a length and chunks": refused(`${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`),
  "chunks and a length": refused(`${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n`),
  "chunks in HTTP/1.0": refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
  "another coding": refused(`${ok}Transfer-Encoding: gzip\r\n\r\nhi`),
  "two codings": refused(`${ok}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`),
  "chunked twice": refused(`${ok}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`),
  "a coding that looks like chunked": refused(`${ok}Transfer-Encoding: xchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`),
  "a connection that names the length": field("Connection: close, content-length", "names content-length"),
  "a connection that names the coding": refused(
    `${ok}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  ),
  "a body that is too short": broken(`${ok}Content-Length: 10\r\n\r\nhi`),
  "a body that is too long": passed(`${ok}${two} and more`),
  "a second answer": passed(`${ok}${two}`, `${ok}${two}`),
  "a body that ends with the connection": passed(`${ok}\r\nhi`),
  "a body with 204": passed(`HTTP/1.1 204 No Content\r\n${two}`),
  "chunks with 204": passed("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
  "a body with 304": passed(`HTTP/1.1 304 Not Modified\r\n${two}`),
  "a chunk without a size": broken(`${chunkedHead}\r\nhi\r\n0\r\n\r\n`),
  "a chunk of no number": broken(`${chunkedHead}xyz\r\nhi\r\n0\r\n\r\n`),
  "a chunk of a negative size": broken(`${chunkedHead}-2\r\nhi\r\n0\r\n\r\n`),
  "a chunk whose size overflows": broken(`${chunkedHead}ffffffffffffffffff\r\nhi\r\n0\r\n\r\n`),
  "a chunk with a plus": broken(`${chunkedHead}+2\r\nhi\r\n0\r\n\r\n`),
  "a chunk that is too short": broken(`${chunkedHead}5\r\nhi\r\n0\r\n\r\n`),
  "a chunk that is too long": broken(`${chunkedHead}1\r\nhi\r\n0\r\n\r\n`),
  "chunks without an end": broken(`${chunkedHead}2\r\nhi\r\n`),
  "bare LFs around chunks": broken(`${chunkedHead}2\nhi\n0\n\n`),
  "an extension of 100 KB": broken(`${chunkedHead}2;${"a".repeat(100_000)}\r\nhi\r\n0\r\n\r\n`),
  "an extension": passed(`${chunkedHead}2;a=b\r\nhi\r\n0\r\n\r\n`),
  trailers: passed(`${chunkedHead}2\r\nhi\r\n0\r\nX: 1\r\n\r\n`),
  "a length in a trailer": broken(`${chunkedHead}2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n`),
  "a bad trailer": broken(`${chunkedHead}2\r\nhi\r\n0\r\nX\0: 1\r\n\r\n`),
  "trailers of 1 MB": broken(`${chunkedHead}2\r\nhi\r\n0\r\n${`X: ${"a".repeat(1000)}\r\n`.repeat(1000)}\r\n`),
  "an early hint": passed(`HTTP/1.1 103 Early\r\nLink: x\r\n\r\n${ok}${two}`),
  "an empty continue": passed(`HTTP/1.1 100 Continue\r\n\r\n${ok}${two}`),
  "early hints without end": refused(`${"HTTP/1.1 103 Early\r\n\r\n".repeat(20_000)}${ok}${two}`),
  "continues without end": refused(`${"HTTP/1.1 100 Continue\r\n\r\n".repeat(20_000)}${ok}${two}`),
  "early hints one by one": refused(
    ...Array.from({ length: 40 }, () => "HTTP/1.1 102 Processing\r\n\r\n"),
    `${ok}${two}`,
  ),
  "a switch of protocols": refused("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello"),
  "a switch to HTTP/2": refused("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
  "a switch that names no protocol": refused("HTTP/1.1 101 Switching\r\n\r\nhello"),
  "an upgrade with 200": passed(`${ok}Connection: Upgrade\r\nUpgrade: websocket\r\n${two}`),
  "a folded field": field("X: a\r\n b"),
  "silence after the head": { pieces: [`${ok}Content-Length: 10\r\n\r\nhi`], becomes: "broken", staysOpen: true },
};
