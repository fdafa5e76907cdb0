import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback that counts its visitors. */
export class FarSide {
  readonly #server: Server;
  readonly requests: string[] = [];
  connections = 0;

  static async start(
    handler: Handler,
    tls: { readonly key: string; readonly cert: string } | null = null,
  ): Promise<FarSide> {
    const server = tls === null ? createServer() : createTlsServer(tls);
    const side = new FarSide(server, handler);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return side;
  }

  private constructor(server: Server, handler: Handler) {
    this.#server = server;
    server.on("connection", () => this.connections++);
    server.on("request", (request, response) => {
      this.requests.push(`${request.method} ${request.headers.host}${request.url}`);
      handler(request, response);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  forget(): void {
    this.requests.length = 0;
    this.connections = 0;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A key and a certificate for the names, made by openssl. */
export function makeCertificate(...names: readonly string[]): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-certificate-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = [
      "-subj",
      `/CN=${names[0]}`,
      "-addext",
      `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`,
    ];
    const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", ["req", "-x509", ...ec, "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject], {
      stdio: "ignore",
    });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
