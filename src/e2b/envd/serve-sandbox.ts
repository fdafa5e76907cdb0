import type { IncomingMessage } from "node:http";
import { mebibyte } from "../../base/bytes.ts";
import { sendJson, sendNothing, type Exchange } from "../http/exchange.ts";
import { E2bRefusal, notRunning, notServed } from "../http/refusal.ts";
import type { E2bContext } from "../e2b-context.ts";
import { serveInterpreter } from "../interpreter/serve-interpreter.ts";
import { sandboxMetrics } from "../sandboxes/sandbox-metrics.ts";
import type { SandboxTarget } from "../sandboxes/e2b-sandbox.ts";
import { findNamed, liveTarget, type NamedSandbox } from "./gateway.ts";
import type { AskedPort } from "./port-gates.ts";
import { globalVariables } from "./global-variables.ts";
import { isRpc, serveRpc } from "./rpc/serve-rpc.ts";
import { serveFiles } from "./files/serve-files.ts";

/** Answers a request to a sandbox that its headers name. @throws E2bRefusal, what the operations throw */
export async function serveSandbox(context: E2bContext, exchange: Exchange): Promise<void> {
  const { request, response, path } = exchange;
  const { sandbox, port, part } = findNamed(context, request);
  if (part === null) return context.ports.handle(request, response, askedPort(context, request, { sandbox, port }));
  if (request.method === "GET" && path === "/health") {
    if (!(await context.sandboxes.isAlive(sandbox, exchange.signal))) throw notRunning(sandbox.id);
    return part === "envd" ? sendNothing(response) : sendJson(response, 200, "OK");
  }
  if (part === "interpreter") return serveInterpreter(context, exchange, sandbox);
  if (path === "/files") return serveFiles(context, exchange, sandbox);
  const { "x-access-token": token } = request.headers;
  if (typeof token !== "string" || !context.sandboxes.isToken(sandbox, token)) {
    throw new E2bRefusal(401, "expected the sandbox's token in the header X-Access-Token");
  }
  context.admit(exchange, sandbox.caller);
  const target = await liveTarget(context, exchange, sandbox);
  if (isRpc(path)) return serveRpc({ context, exchange, target });
  if (request.method === "GET" && path === "/envs") return sendJson(response, 200, globalVariables(sandbox));
  if (request.method === "GET" && path === "/metrics") return sendMetrics(context, exchange, target);
  throw notServed(path.slice(0, 200), "docs/clients.md lists what is.");
}

/** A port with the origin by which a browser knows it. */
export function askedPort(
  { hosts }: E2bContext,
  { headers: { host = "" } }: IncomingMessage,
  named: Pick<NamedSandbox, "sandbox" | "port">,
): AskedPort {
  const { sandbox, port } = named;
  const { scheme = "http", authority = host.toLowerCase() } = hosts.read(host) ?? {};
  return { sandbox, port, outer: { scheme, authority } };
}

async function sendMetrics({ platform }: E2bContext, { response }: Exchange, target: SandboxTarget): Promise<void> {
  const samples = await sandboxMetrics(platform.call, target.sandbox, { ...target, samples: 1 });
  const last = samples.at(-1);
  if (last === undefined) throw new E2bRefusal(503, "There is no sample of this sandbox yet; ask again in a second.");
  const mebibytes = (bytes: number): number => Math.round(bytes / mebibyte);
  sendJson(response, 200, {
    ts: Math.floor(Date.parse(last.timestamp) / 1000),
    cpu_count: last.cpuCount,
    cpu_used_pct: last.cpuUsedPct,
    mem_total: last.memTotal,
    mem_used: last.memUsed,
    mem_total_mib: mebibytes(last.memTotal),
    mem_used_mib: mebibytes(last.memUsed),
    ...(last.memCache === undefined ? {} : { mem_cache: last.memCache }),
    ...(last.diskUsed === undefined ? {} : { disk_used: last.diskUsed }),
    disk_total: last.diskTotal,
  });
}
