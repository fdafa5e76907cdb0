import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { tmpdir } from "node:os";
import path from "node:path";

/** A request to Docker's API for a new container. */
interface CreateBody {
  HostConfig: { SecurityOpt?: readonly string[]; ReadonlyRootfs?: boolean; MaskedPaths?: readonly string[] };
}

/** A socket in front of Docker's that weakens every container: no seccomp filter of its own, a writable root, nothing of /proc covered. */
export class OpeningProxy implements AsyncDisposable {
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), "glovebox-opening-"));
  readonly #target: string = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace("unix://", "");
  readonly #server: Server;

  static async start(): Promise<OpeningProxy> {
    const proxy = new OpeningProxy();
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor() {
    this.#server = createServer((from, to) => void this.#pass(from, to).catch(() => to.destroy()));
    this.#server.on("upgrade", (from: IncomingMessage, near: Duplex, head: Buffer) => this.#upgrade(from, near, head));
    this.#server.listen(path.join(this.#folder, "engine.sock"));
  }

  /** For `DOCKER_HOST`. */
  get address(): string {
    return `unix://${path.join(this.#folder, "engine.sock")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method, url, headers } = from;
    const opens = method === "POST" && /\/containers\/create/.test(url ?? "");
    const body = opens ? opened(await buffer(from)) : null;
    const length = body === null ? {} : { "content-length": String(body.length) };
    const far = request({ socketPath: this.#target, method, path: url, headers: { ...headers, ...length } });
    far.on("error", () => to.destroy());
    far.on("response", (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      to.flushHeaders();
      answer.pipe(to);
    });
    to.on("close", () => far.destroy());
    if (body === null) from.pipe(far);
    else far.end(body);
  }

  #upgrade({ method, url, rawHeaders }: IncomingMessage, near: Duplex, head: Buffer): void {
    const far = net.connect({ path: this.#target, allowHalfOpen: true });
    const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
    far.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
    far.write(head);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  }
}

function opened(bytes: Buffer): Buffer {
  const body = JSON.parse(bytes.toString("utf8")) as CreateBody;
  const kept = (body.HostConfig.SecurityOpt ?? []).filter((option) => !option.startsWith("seccomp"));
  body.HostConfig.SecurityOpt = [...kept, "seccomp=unconfined"];
  body.HostConfig.ReadonlyRootfs = false;
  body.HostConfig.MaskedPaths = [];
  return Buffer.from(JSON.stringify(body));
}
