import { engines } from "./open-glovebox.ts";
import { DnsServer } from "./dns-server.ts";
import { FarSide, makeCertificate } from "./far-side.ts";
import { testImages } from "./test-images.ts";
import type { GloveboxOptions } from "./wire-glovebox.ts";

const loopback = [{ a: "127.0.0.1" }] as const;
const zone: Readonly<Record<string, Parameters<typeof DnsServer.start>[0]>> = {
  "web.test": () => loopback,
  "tls.test": () => loopback,
  "other.test": () => loopback,
  "hidden.test": () => loopback,
  "hidden6.test": () => [{ aaaa: "::1" }],
  "mapped.test": () => [{ aaaa: "::ffff:7f00:1" }],
  "alias.test": () => [{ cname: "hidden.test" }, { a: "127.0.0.1" }],
  "metadata.test": () => [{ a: "169.254.169.254" }],
  // The public address, which leads nowhere, comes first; each engine asks for a different name.
  ...Object.fromEntries(
    engines.map((engine) => [
      `rebind-${engine}.test`,
      (_: string, asked: number) => (asked === 0 ? [{ aaaa: "2606:2800:220:1::1" }] : loopback),
    ]),
  ),
};
const megabyte = Buffer.alloc(1024 * 1024, "x");

/** Servers on loopback, a DNS server that knows them by name, and settings that trust only some of them. */
export interface NetworkScene extends Disposable {
  readonly web: FarSide;
  readonly tls: FarSide;
  /** The web server's name and port, which is trusted. */
  readonly webAt: string;
  readonly settings: NonNullable<GloveboxOptions["settings"]> & {
    readonly network: Readonly<Record<string, string[]>>;
  };
}

export async function openNetworkScene(): Promise<NetworkScene> {
  const dns = await DnsServer.start((name, asked) => zone[name]?.(name, asked));
  const web = await FarSide.start((request, response) => {
    if (request.url === "/redirect") return response.writeHead(302, { location: "http://metadata.test/latest" }).end();
    if (request.url === "/big") return response.end(megabyte);
    if (request.url === "/echo") return request.pipe(response);
    return response.end(`hello from ${request.headers.host}`);
  });
  const tls = await FarSide.start(
    (_, response) => response.end("hello over TLS"),
    makeCertificate("tls.test", "other.test"),
  );
  const webAt = `web.test:${web.port}`;
  return {
    web,
    tls,
    webAt,
    settings: {
      images: testImages,
      network: { dns_servers: [dns.address], private_hosts: [webAt, `tls.test:${tls.port}`] },
    },
    [Symbol.dispose]: () => {
      for (const each of [dns, web, tls]) each.close();
    },
  };
}

/** A Python program that prints what the address in its argument answers. */
export const getProgram =
  "import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())";

/** A Python program that sends the bytes in its argument (hexadecimal) to the forwarder and prints what comes back. */
export const rawProgram = `
import socket, sys
connection = socket.create_connection(("127.0.0.1", 3128), 10)
connection.settimeout(10)
connection.sendall(bytes.fromhex(sys.argv[1]))
answer = b""
while True:
    piece = connection.recv(65536)
    if not piece: break
    answer += piece
print(answer.decode("latin1"))
`;

/** A Python program that opens a tunnel to the first name and sends another name, or none, in the TLS hello. */
export const tlsProgram = `
import socket, ssl, sys
name, port, said = sys.argv[1:]
connection = socket.create_connection(("127.0.0.1", 3128), 10)
connection.sendall(f"CONNECT {name}:{port} HTTP/1.1\\r\\nHost: {name}:{port}\\r\\n\\r\\n".encode())
print(connection.recv(4096).split(b"\\r\\n")[0].decode())
context = ssl._create_unverified_context()
secure = context.wrap_socket(connection, server_hostname=said or None)
secure.sendall(f"GET / HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n".encode())
answer = b""
while True:
    piece = secure.recv(65536)
    if not piece: break
    answer += piece
print(answer.split(b"\\r\\n\\r\\n")[1].decode())
`;
