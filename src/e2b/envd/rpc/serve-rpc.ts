import { sendJson } from "../../http/exchange.ts";
import { filesystemMethods } from "../filesystem/filesystem-service.ts";
import { watchMethods } from "../filesystem/watch-service.ts";
import { processMethods } from "../processes/process-service.ts";
import { ConnectError, toConnectError } from "./connect-error.ts";
import { lastEnvelope } from "./envelope.ts";
import { readMessage, type RpcCall, type RpcMethod } from "./rpc-call.ts";

const methods: ReadonlyMap<string, RpcMethod> = new Map([
  ...Object.entries(processMethods).map(([name, method]) => [`/process.Process/${name}`, method] as const),
  ...Object.entries({ ...filesystemMethods, ...watchMethods }).map(
    ([name, method]) => [`/filesystem.Filesystem/${name}`, method] as const,
  ),
]);

/** Whether a path is one of the Connect protocol's. */
export function isRpc(path: string): boolean {
  return path.startsWith("/process.") || path.startsWith("/filesystem.");
}

/** Answers a call of the Connect protocol with JSON; errors too are answered. */
export async function serveRpc(call: RpcCall): Promise<void> {
  const { request, response, path } = call.exchange;
  const method = request.method === "POST" ? methods.get(path) : undefined;
  try {
    if (method === undefined)
      throw new ConnectError("unimplemented", `${path.slice(0, 200)} is not served by Glovebox`);
    assertUser(request.headers.authorization);
    const body = await readMessage(call, method.type);
    if (method.type === "stream") await method.handle(call, body);
    else sendJson(response, 200, await method.handle(call, body));
  } catch (error) {
    const failed = toConnectError(error);
    const close: Record<string, string> = request.complete ? {} : { connection: "close" };
    if (response.headersSent) response.destroy();
    else if (method?.type === "stream") {
      response.writeHead(200, { "content-type": "application/connect+json", ...close }).end(lastEnvelope(failed));
    } else sendJson(response, failed.status, failed.toWire(), close);
  }
}

/** @throws ConnectError for another user than the sandbox's own */
function assertUser(authorization: string | undefined): void {
  const encoded = /^Basic +([A-Za-z0-9+/=]{1,400})$/i.exec(authorization ?? "")?.[1];
  const user = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().replace(/:.*$/s, "");
  if (user !== "" && user !== "user")
    throw new ConnectError("unauthenticated", `invalid username: '${user.slice(0, 80)}'`);
}
