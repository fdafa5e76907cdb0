import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionShares } from "../base/http/connection-shares.ts";
import { guardConnections } from "../base/http/guard-connections.ts";
import { errorCode } from "../errors/error-code.ts";
import { refuseUpgrade, sendOwnAnswer } from "./own-answer.ts";
import type { PreviewGate } from "./preview-gate.ts";
import { isDirectHost, readPreviewHost } from "./preview-host.ts";
import { maxHeadBytes } from "./headers/raw-headers.ts";
import { foreignHost, foreignOrigin, headTooLarge, unclearRequest } from "./refusals.ts";
import { isUnclear } from "./unclear-request.ts";
import { originText, type OuterOrigin } from "./upstream.ts";

const address = "127.0.0.1";
const headersWithinMs = 10_000;

/** A listener of one preview alone, on loopback under a number of its own. */
export interface DirectListener {
  readonly port: number;
  close(): void;
}

/** Opens it; it answers to loopback addresses, and to the preview's own name below `localhost`. */
export async function openDirectListener(
  gate: PreviewGate,
  { token, connections }: { readonly token: string; readonly connections: ConnectionShares },
): Promise<DirectListener> {
  const server: Server = createServer({ noDelay: true, headersTimeout: headersWithinMs, maxHeaderSize: maxHeadBytes });
  connections.watch(server);
  // Their size is what is bounded.
  server.maxHeadersCount = 0;
  const outerOf = ({ headers: { host } }: IncomingMessage): OuterOrigin | null => {
    const isNamed = readPreviewHost(host, ["localhost"])?.token === token;
    const isOwn = isNamed || isDirectHost(host, portOf(server));
    return isOwn ? { scheme: "http", authority: (host ?? "").toLowerCase() } : null;
  };
  server.on("request", (request, response) => {
    const outer = outerOf(request);
    if (isUnclear(request)) sendOwnAnswer(request, response, unclearRequest);
    else if (outer === null) sendOwnAnswer(request, response, foreignHost);
    else gate.handle(request, response, outer);
  });
  server.on("upgrade", (request, socket, head) => {
    const outer = outerOf(request);
    const { origin } = request.headers;
    if (isUnclear(request)) refuseUpgrade(socket, unclearRequest);
    else if (outer === null) refuseUpgrade(socket, foreignHost);
    else if (origin !== undefined && origin !== originText(outer)) refuseUpgrade(socket, foreignOrigin);
    else gate.upgrade(request, socket, head, outer);
  });
  server.on("clientError", answerBroken);
  guardConnections(server);
  await once(server.listen({ host: address, port: 0, exclusive: true }), "listening");
  return {
    port: portOf(server),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Ends a connection on which no HTTP arrived, too much of it before a body, or too slowly. */
function answerBroken(error: Error, socket: Duplex): void {
  const code = errorCode(error);
  if (code === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseUpgrade(socket, code === "HPE_HEADER_OVERFLOW" ? headTooLarge : unclearRequest);
}
