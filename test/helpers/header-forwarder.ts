import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on loopback that forwards requests with additional headers, and everything else unchanged. */
export class HeaderForwarder implements AsyncDisposable {
  readonly #server: http.Server;

  private constructor(server: http.Server) {
    this.#server = server;
  }

  /** It may be made before the URL of the server behind it is known. */
  static async to(target: Promise<string>, headers: Readonly<Record<string, string>>): Promise<HeaderForwarder> {
    const server = http.createServer((request, response) => {
      void target.then((url) => {
        const { method, url: path = "/" } = request;
        const onward = http.request(
          new URL(path, url),
          { method, headers: { ...request.headers, ...headers } },
          (answer) => {
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(response);
          },
        );
        onward.on("error", () => response.destroy());
        response.on("close", () => onward.destroy());
        request.pipe(onward);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HeaderForwarder(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
