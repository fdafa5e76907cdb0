import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { readClientHello } from "./message-head.ts";

/** What a real TLS client sends first. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: "127.0.0.1", ...(servername === "" ? {} : { servername }) });
  client.on("error", () => undefined);
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = await once(socket, "data");
  client.destroy();
  server.close();
  return bytes as Buffer;
}

/** A hello made by hand: extensions as type and content. */
function made(extensions: readonly (readonly [type: number, content: readonly number[]])[]): Buffer {
  const two = (value: number): number[] => [value >> 8, value & 0xff];
  const listed = extensions.flatMap(([type, content]) => [...two(type), ...two(content.length), ...content]);
  const body = [3, 3, ...Array.from({ length: 32 }, () => 7), 0, 0, 2, 19, 1, 1, 0, ...two(listed.length), ...listed];
  const message = [1, 0, ...two(body.length), ...body];
  return Buffer.from([22, 3, 1, ...two(message.length), ...message]);
}

function nameExtension(name: string, type = 0): readonly [number, readonly number[]] {
  const entry = [type, 0, name.length, ...Buffer.from(name)];
  return [0, [0, entry.length, ...entry]];
}

/** The same hello in records of a few bytes each. */
function inRecords(hello: Buffer, size: number): Buffer {
  const records: Buffer[] = [];
  for (let at = 5; at < hello.length; at += size) {
    const piece = hello.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 0xff]), piece);
  }
  return Buffer.concat(records);
}

describe("readClientHello", () => {
  it("reads the name that a real client sends", async () => {
    expect(readClientHello(await helloOf("www.Example.com"))).toEqual({ kind: "hello", serverName: "www.example.com" });
  });

  it("sees when a real client sends none", async () => {
    expect(readClientHello(await helloOf(""))).toEqual({ kind: "hello", serverName: null });
  });

  it("waits at every byte but the last, and never takes a part for the whole", async () => {
    const hello = await helloOf("www.example.com");
    for (let size = 0; size < hello.length; size++) {
      expect(readClientHello(hello.subarray(0, size))).toEqual({ kind: "incomplete" });
    }
  });

  it("reads a hello that is split into many records", () => {
    const hello = inRecords(made([[10, [0]], nameExtension("a.example")]), 3);
    expect(readClientHello(hello)).toEqual({ kind: "hello", serverName: "a.example" });
  });

  it("does not mind bytes after it", () => {
    const hello = Buffer.concat([made([nameExtension("a.example")]), Buffer.from("more")]);
    expect(readClientHello(hello)).toEqual({ kind: "hello", serverName: "a.example" });
  });

  it.each([
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n")],
    ["another record", Buffer.from([23, 3, 3, 0, 1, 0])],
    ["another message", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ["SSL 2", Buffer.from([0x80, 0x2e, 1, 3, 1])],
    ["an empty record", Buffer.from([22, 3, 1, 0, 0])],
    ["a record that is too long", Buffer.from([22, 3, 1, 0xff, 0xff])],
    ["a message that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 2, 0, 0])],
    ["two names", made([nameExtension("a.example"), nameExtension("b.example")])],
    ["a name of another type", made([nameExtension("a.example", 1)])],
    ["an empty name", made([nameExtension("")])],
    ["an empty list of names", made([[0, [0, 0]]])],
    ["a list that is longer than its extension", made([[0, [0, 9, 0, 0, 1, 97]]])],
    ["a list with something after its name", made([[0, [0, 4, 0, 0, 1, 97, 1]]])],
  ])("refuses %s", (_, bytes) => {
    expect(readClientHello(bytes)).toEqual({ kind: "invalid" });
  });

  it("shows a name with NUL as it is, which then is nobody's", () => {
    expect(readClientHello(made([nameExtension("a.example\0")]))).toEqual({ kind: "hello", serverName: "a.example\0" });
  });

  it("gives an answer for any bytes", () => {
    const hello = made([nameExtension("a.example")]);
    for (let at = 0; at < hello.length; at++) {
      for (const byte of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(hello);
        changed[at] = byte;
        expect(["incomplete", "invalid", "hello"]).toContain(readClientHello(changed).kind);
      }
    }
  });
});
