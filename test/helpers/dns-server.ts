import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** One record of an answer: an IPv4 or IPv6 address, or another name. */
export type DnsRecord = { readonly a: string } | { readonly aaaa: string } | { readonly cname: string };

/** The records of a name, by how often it was asked for before, at once or later; undefined: the name does not exist. */
export type DnsZone = (
  name: string,
  asked: number,
) => readonly DnsRecord[] | undefined | Promise<readonly DnsRecord[] | undefined>;

const types = { a: 1, cname: 5, aaaa: 28 } as const;

/** A DNS server on loopback that answers from a function. */
export class DnsServer {
  readonly #socket: Socket;
  #isOpen = true;
  readonly #asked = new Map<string, number>();

  static async start(zone: DnsZone): Promise<DnsServer> {
    const socket = createSocket("udp4");
    const server = new DnsServer(socket, zone);
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return server;
  }

  private constructor(socket: Socket, zone: DnsZone) {
    this.#socket = socket;
    socket.on("message", (query, from) => {
      const { name, type, end } = readQuestion(query);
      const key = `${name}/${type}`;
      const asked = this.#asked.get(key) ?? 0;
      this.#asked.set(key, asked + 1);
      void Promise.resolve(zone(name, asked)).then((records) => {
        if (this.#isOpen) socket.send(answer(query.subarray(0, end), type, records), from.port, from.address);
      });
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.close();
  }
}

function readQuestion(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, type: number, records: readonly DnsRecord[] | undefined): Buffer {
  const fitting = (records ?? []).filter((record) => {
    const own = "a" in record ? types.a : "aaaa" in record ? types.aaaa : types.cname;
    return own === type || own === types.cname;
  });
  const head = Buffer.from(question);
  head.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(fitting.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...fitting.map(encodeRecord)]);
}

/** Every record repeats the name in the question. */
function encodeRecord(record: DnsRecord): Buffer {
  const [type, data] =
    "a" in record
      ? [types.a, Buffer.from(record.a.split(".").map(Number))]
      : "aaaa" in record
        ? [types.aaaa, encodeAddress(record.aaaa)]
        : [types.cname, encodeName(record.cname)];
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
