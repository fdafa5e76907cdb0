import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Api } from "../../src/engines/docker-api/http/api.ts";

const titles = { docker: "Docker", podman: "Podman" } as const;

export interface AnsweringEngine extends Disposable {
  readonly api: Api;
  /** Its end of the connections. */
  readonly server: http.Server;
}

/** The API of an engine that gives answers which no real one can be made to give. */
export async function openAnsweringEngine(
  engine: keyof typeof titles,
  answer: http.RequestListener,
): Promise<AnsweringEngine> {
  const server = http.createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = new Api({
    engine,
    title: titles[engine],
    findEndpoint: () => Promise.resolve({ kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "a test" }),
    explain: () => ({ reason: "not reached", howToStart: "start it" }),
  });
  return {
    api,
    server,
    [Symbol.dispose]: () => {
      api.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
