import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One that answers each request at once with the same text, in a process of its own: what HTTP alone takes here. */
export interface EmptyServer extends AsyncDisposable {
  ask(body: unknown): Promise<void>;
}

export async function startEmptyServer(): Promise<EmptyServer> {
  const child = fork(import.meta.filename, { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  return {
    ask: async (body) => {
      const headers = { authorization: "Bearer none", "content-type": "application/json" };
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.json();
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

/** In the child. */
function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end('{"status":"ok"}'));
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[1] === import.meta.filename) serve();
