import { readStrictly } from "../strict-http.ts";
import type { Answer } from "../../../helpers/proxy-client.ts";

/** What is wrong with what a far side received on one connection; null for at most one well-formed request for it. */
export function faultOfReceived(received: Buffer, at: string): string | null {
  if (received.length === 0) return null;
  if (received[0] === 22) return received.includes("web.test") ? null : "a TLS hello with another name";
  const text = received.toString("latin1");
  if (!text.includes("\r\n\r\n")) return incompleteHead(text);
  const read = readStrictly(received);
  const head =
    typeof read === "string"
      ? readStrictly(Buffer.from(`${text.split("\r\n\r\n")[0]}\r\n\r\n`), { hasNoBody: true })
      : read;
  if (typeof head === "string") return head;
  const hosts = head.fields.filter(([name]) => name.toLowerCase() === "host").map(([, value]) => value);
  if (hosts.join() !== at) return `other hosts: ${hosts.join()}`;
  if (!/^[A-Z-]+ [/*]\S* HTTP\/1\.1$/.test(head.startLine)) return `another first line: ${head.startLine}`;
  // If a body broke off, the program or the far side did that.
  if (typeof read === "string") return isCutOff(read) ? null : read;
  return read.rest.length > 0 ? `more than one request: ${read.rest.toString("latin1").slice(0, 80)}` : null;
}

/** What is wrong with the answers to a program; null for whole answers, or for a connection that visibly broke off. */
export function faultOfAnswer({ bytes, end }: Answer): string | null {
  if (end === "channel") return "its whole channel was closed";
  let rest = bytes;
  for (let count = 0; rest.length > 0; count++) {
    const text = rest.toString("latin1", 0, 64);
    if (/^HTTP\/1\.1 (200 Connection Established|100 Continue)\r\n\r\n/.test(text)) {
      rest = rest.subarray(rest.indexOf("\r\n\r\n") + 4);
      continue;
    }
    // A TLS alert, or what a far side says within TLS.
    if (rest[0] === 21 || (count === 0 && bytes.includes("200 Connection Established") && !text.startsWith("HTTP/")))
      return null;
    const read = readStrictly(rest, { endsWithConnection: true, hasNoBody: /^HTTP\/1\.1 (204|304) /.test(text) });
    if (typeof read === "string") {
      return end === "end" && !isTunnelled(bytes) ? `${read}: ${JSON.stringify(text)}` : null;
    }
    rest = read.rest;
  }
  return null;
}

/** The proxy cannot see inside TLS: what a far side says there is passed on unchanged. */
function isTunnelled(bytes: Buffer): boolean {
  return bytes.includes("200 Connection Established");
}

function isCutOff(fault: string): boolean {
  return /too short|without an end|^a chunk without a size: "[0-9a-f\\r]*"$/.test(fault);
}

function incompleteHead(text: string): string | null {
  return /^[\x20-\x7e\x80-\xff\r\n\t]*$/.test(text) ? null : "a control character in half a head";
}
