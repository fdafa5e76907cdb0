import type { Random } from "./random.ts";

/** One conversation through the proxy: what a program sends, piece by piece, and what the far side answers. */
export interface FuzzCase {
  readonly request: readonly string[];
  readonly answer: readonly string[];
  /** Whether the far side leaves the connection open after its answer. */
  readonly staysOpen: boolean;
  /** Whether the program resets its connection instead of waiting. */
  readonly givesUp: boolean;
}

const smuggled = "GET /SMUGGLED HTTP/1.1\r\nHost: evil.test\r\n\r\n";
const fields = [
  ...["Content-Length: 0", "Content-Length: 5", "Content-Length: 43", "Content-Length: 5, 5", "Content-Length: -1"],
  ...["Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:\vchunked", "TE: trailers"],
  ...[
    "Connection: close",
    "Connection: keep-alive",
    "Connection: content-length",
    "Connection: host, transfer-encoding",
  ],
  ...["Host: evil.test", "Expect: 100-continue", "Upgrade: websocket\r\nConnection: Upgrade", "Trailer: x", "X: \x01"],
  ...["X: a\r\n b", "X : y", "X\0: y", "Cookie: a=b", "Proxy-Authorization: x", `X: ${"y".repeat(9000)}`, "Via: 9"],
];
const lines = [
  ...["GET / HTTP/1.1", "POST /x HTTP/1.0", "HTTP/1.1 200 OK", "HTTP/1.1 099 X", "HTTP/1.1 103 Early\r\n\r\n"],
  ...[
    "HTTP/1.1 101 Switching\r\n\r\n",
    "HTTP/1.1 204 No\r\n\r\n",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "ffffffffff\r\n",
    "\r\n\r\n",
  ],
  ...["\n", "\r", "\0", "\x1b[2J", "\x7f", "\xff\xfe", " ", "\t", ":", ";", "a".repeat(5000), smuggled],
];

export function makeCase(random: Random, at: string): FuzzCase {
  const count = random.once(6) ? 2 + random.below(3) : 1;
  const request = Array.from({ length: count }, () => requestText(random, at)).join("");
  return {
    request: pieces(random, random.once(5) ? request : mutated(random, request)),
    answer: pieces(random, random.once(5) ? answerText(random) : mutated(random, answerText(random))),
    staysOpen: random.once(10),
    givesUp: random.once(12),
  };
}

/** Bytes on the channel itself, as sent by a program that replaces the forwarder. */
export function channelNoise(random: Random): Buffer {
  const size = 1 + random.below(400);
  return Buffer.from(
    Array.from({ length: size }, (_, index) =>
      index % 9 === 0 ? random.below(7) : index % 9 < 7 ? 0 : random.below(256),
    ),
  );
}

function requestText(random: Random, at: string): string {
  const kind = random.below(12);
  if (kind === 0) return `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n${message(random, "GET / HTTP/1.1")}`;
  if (kind === 1) return `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n${hello(random)}`;
  if (kind === 2)
    return message(random, `GET http://${random.pick(["hidden.test", "127.0.0.1", "evil.test"])}/ HTTP/1.1`);
  const method = random.pick(["GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);
  return message(random, `${method} http://${at}/${random.below(1000)} HTTP/1.${random.once(8) ? 0 : 1}`);
}

function answerText(random: Random): string {
  const status = random.pick([
    "200 OK",
    "200 OK",
    "204 No Content",
    "304 Not Modified",
    "404 Not Found",
    "500 Oh",
    "099 X",
  ]);
  const before = random.once(10) ? "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".repeat(1 + random.below(20)) : "";
  return before + message(random, `HTTP/1.${random.once(8) ? 0 : 1} ${status}`);
}

function message(random: Random, first: string): string {
  const some = Array.from({ length: random.below(4) }, () => random.pick(fields));
  const body = random.pick(["hello", smuggled, "", "x".repeat(random.below(20_000))]);
  const kind = random.below(4);
  const framing = kind === 0 ? [] : kind < 3 ? [`Content-Length: ${body.length}`] : ["Transfer-Encoding: chunked"];
  const framed =
    kind === 3 && body !== "" ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : kind === 3 ? "0\r\n\r\n" : body;
  return `${[first, "Host: x", ...some, ...framing].join("\r\n")}\r\n\r\n${kind === 0 ? "" : framed}`;
}

/** A TLS client's first message, with the allowed name or another one. */
function hello(random: Random): string {
  const name = random.pick(["web.test", "evil.test", "web.test\0.evil.test", ""]);
  const sized = (text: string, width: number): string => {
    const size = Buffer.alloc(width);
    size.writeUIntBE(text.length, 0, width);
    return size.toString("latin1") + text;
  };
  const extension = `\0\0${sized(sized(`\0${sized(name, 2)}`, 2), 2)}`;
  const body = `\x03\x03${"r".repeat(32)}${sized("", 1)}${sized("\x13\x01", 2)}${sized("\0", 1)}${sized(extension, 2)}`;
  return `\x16\x03\x01${sized(`\x01${sized(body, 3)}`, 2)}`;
}

function mutated(random: Random, text: string): string {
  let left = 1 + random.below(4);
  let now = text;
  while (left-- > 0) now = mutatedOnce(random, now);
  return now;
}

function mutatedOnce(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.below(9)) {
    case 0:
      return before + random.pick(lines) + after;
    case 1:
      return before + String.fromCharCode(random.below(256)) + after;
    case 2:
      return before + after.slice(1 + random.below(3));
    case 3:
      return before + String.fromCharCode(random.below(256)) + after.slice(1);
    case 4:
      return text.replace("\r\n", random.pick(["\n", "\r", "\r\r\n", "\r\n\r\n"]));
    case 5:
      return text.replace("\r\n", `\r\n${random.pick(fields)}\r\n`);
    case 6:
      return before;
    case 7:
      return before + after.slice(0, random.below(200)).repeat(1 + random.below(5)) + after;
    default:
      return text.replace(/\d+/, random.pick(["0", "1", "99999999999", "-1", "0x10", "1e3", "00", " 7"]));
  }
}

function pieces(random: Random, text: string): readonly string[] {
  const count = random.once(3) ? 2 + random.below(5) : 1;
  const cuts = Array.from({ length: count - 1 }, () => random.below(text.length + 1)).toSorted(
    (one, other) => one - other,
  );
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index] ?? text.length));
}
