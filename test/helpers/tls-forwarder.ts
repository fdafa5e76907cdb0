import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import tls from "node:tls";

/**
 * A loopback port that leads to an engine's socket over TLS, for clients with the right certificate, like `dockerd
 * --tlsverify`. Its folder contains `ca.pem`, `cert.pem` and `key.pem` as `DOCKER_CERT_PATH` expects them.
 */
export class TlsForwarder implements Disposable {
  readonly folder: string = mkdtempSync(path.join(tmpdir(), "glovebox-tls-"));
  readonly #server: tls.Server;
  readonly #streams = new Set<net.Socket>();

  static async to(socketPath: string): Promise<TlsForwarder> {
    const forwarder = new TlsForwarder(socketPath);
    forwarder.#server.listen(0, "127.0.0.1");
    await once(forwarder.#server, "listening");
    return forwarder;
  }

  private constructor(socketPath: string) {
    const openssl = (command: string): void =>
      void execFileSync("openssl", command.split(" "), { cwd: this.folder, stdio: "pipe" });
    const fresh = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
    openssl(`${fresh} -x509 -subj /CN=glovebox-test-ca -keyout ca-key.pem -out ca.pem`);
    for (const [name, key] of [
      ["server", "server-key"],
      ["cert", "key"],
    ]) {
      const signed = `-CA ca.pem -CAkey ca-key.pem -addext subjectAltName=IP:127.0.0.1`;
      openssl(`${fresh} -x509 -subj /CN=${name} ${signed} -keyout ${key}.pem -out ${name}.pem`);
    }
    const read = (name: string): Buffer => readFileSync(path.join(this.folder, `${name}.pem`));
    const options = { cert: read("server"), key: read("server-key"), ca: read("ca") };
    this.#server = tls.createServer(
      { ...options, requestCert: true, rejectUnauthorized: true, allowHalfOpen: true },
      (client) => {
        const engine = net.connect({ path: socketPath, allowHalfOpen: true });
        for (const stream of [client, engine]) {
          this.#streams.add(stream);
          stream.on("close", () => this.#streams.delete(stream));
          stream.on("error", () => [client, engine].forEach((each) => each.destroy()));
        }
        client.pipe(engine).pipe(client);
      },
    );
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const stream of this.#streams) stream.destroy();
    rmSync(this.folder, { recursive: true });
  }
}
