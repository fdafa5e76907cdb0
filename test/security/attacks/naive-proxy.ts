import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export interface NaiveProxyOptions {
  readonly resolver: string;
  /** Ports on this machine that are dialled unchanged; every other port leads to the first of them. */
  readonly ports: readonly number[];
}

/**
 * A proxy that forwards anything, as simple ones do: the control for attacks on ours. It reads hosts as browsers and C
 * libraries do, ignores what follows a NUL, and passes all bytes on. Every address leads to this machine, which plays the
 * one that an attacker would reach.
 */
export class NaiveProxy {
  readonly #server: Server;

  static async start(options: NaiveProxyOptions): Promise<NaiveProxy> {
    const server = createServer((client) => {
      client.once("data", (head) => void forward(client, head, options));
      client.on("error", () => client.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new NaiveProxy(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

async function forward(client: Socket, head: Buffer, { resolver, ports }: NaiveProxyOptions): Promise<void> {
  const text = head.toString("latin1");
  const [method = "", url = ""] = text.split(/[ \r]/);
  const [, host = "", port = ""] = /^(.*?)(?::(\d+))?$/.exec(hostOf(url, text)) ?? [];
  await resolve(host, resolver);
  const wanted = Number(port) % 65_536;
  const far = connect(ports.includes(wanted) ? wanted : (ports[0] ?? 0), "127.0.0.1");
  far.on("error", () => client.destroy());
  if (method === "CONNECT") client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  const rest = text.slice(text.indexOf("\r\n\r\n") + 4);
  far.write(Buffer.from(method === "CONNECT" ? rest : text.replace(url, pathOf(url)), "latin1"));
  client.pipe(far).pipe(client);
}

/** The `host` or `host:port` of a request, or of its Host field. */
function hostOf(url: string, text: string): string {
  const readable = url.replace(/(?:\0|%00)[^:/]*/, "").replace(/^[a-z]+:/, "http:");
  if (URL.canParse(readable) && readable.startsWith("http:")) return new URL(readable).host;
  if (readable.startsWith("/")) return /^host: *(.*?)\r$/im.exec(text)?.[1] ?? "";
  return readable.replace(/^http:\/\//, "").replace(/\/.*$/s, "");
}

/** The request to the host itself, as proxies pass it on. */
function pathOf(url: string): string {
  return URL.canParse(url) && url.startsWith("http:") ? new URL(url).pathname : url;
}

/** Looks the name up, so that the query carries its data out. */
async function resolve(host: string, server: string): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([server]);
  await resolver.resolve4(host).catch(() => []);
}
