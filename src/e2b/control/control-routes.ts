import { E2bRefusal, noSandbox } from "../http/refusal.ts";
import { readJson, sendJson, sendNothing, type Exchange } from "../http/exchange.ts";
import type { E2bRoute } from "../http/routes.ts";
import type { E2bContext } from "../e2b-context.ts";
import type { E2bCaller, E2bSandbox } from "../sandboxes/e2b-sandbox.ts";
import { sandboxMetrics } from "../sandboxes/sandbox-metrics.ts";
import { findTemplate } from "../sandboxes/templates.ts";
import { readConnect, readCreate, readRefresh, readTimeout } from "./create-request.ts";
import { listSandboxes } from "./list-sandboxes.ts";
import { refusedRoutes } from "./refused-routes.ts";
import { connectedRow, detailRow, listedRow } from "./sandbox-rows.ts";

/** A request with a key. */
export interface ControlRequest extends E2bContext {
  readonly exchange: Exchange;
  readonly caller: E2bCaller;
}

type Route = E2bRoute<ControlRequest>;
type Handle = Route["handle"];

const create =
  (asksForInternet: boolean): Handle =>
  async (context) => {
    const { caller, exchange, sandboxes, hosts, platform } = context;
    const rules = { asksForInternet, isLocal: hosts.isLocal, config: platform.config };
    const needs = readCreate(await bodyOf(context), rules);
    context.assertTakesWork();
    sendJson(exchange.response, 201, connectedRow(await sandboxes.create(caller, needs, exchange.signal), hosts));
  };

const list: Handle = ({ exchange, caller, sandboxes }) => {
  const own = sandboxes.list(caller.principal);
  const page = listSandboxes(own, exchange.query);
  const next: Record<string, string> = page.nextToken === null ? {} : { "x-next-token": page.nextToken };
  const headers = { ...next, "x-total-running": String(own.length) };
  sendJson(exchange.response, 200, page.sandboxes.map(listedRow), headers);
};

const get: Handle = async (context, { id = "" }) =>
  sendJson(context.exchange.response, 200, detailRow(await liveSandbox(context, id), context.hosts));

const kill: Handle = async (context, { id = "" }) => {
  await context.sandboxes.remove(await liveSandbox(context, id));
  sendNothing(context.exchange.response);
};

const connect: Handle = async (context, { id = "" }) => {
  const timeoutMs = readConnect(await bodyOf(context));
  const sandbox = await liveSandbox(context, id);
  sendJson(context.exchange.response, 200, connectedRow(prolong(context, sandbox, timeoutMs), context.hosts));
};

const setTimeoutOf: Handle = async (context, { id = "" }) => {
  const timeoutMs = readTimeout(await bodyOf(context));
  const sandbox = await liveSandbox(context, id);
  context.sandboxes.endAt(sandbox, context.platform.now() + timeoutMs);
  sendNothing(context.exchange.response);
};

const refresh: Handle = async (context, { id = "" }) => {
  const timeoutMs = readRefresh(await bodyOf(context));
  prolong(context, await liveSandbox(context, id), timeoutMs);
  sendNothing(context.exchange.response);
};

const metrics: Handle = async (context, { id = "" }) => {
  const { exchange, platform } = context;
  const sandbox = await liveSandbox(context, id);
  const sandboxId = await context.sandboxes.currentId(sandbox, exchange.signal);
  if (sandboxId === null) throw noSandbox(id);
  const [startMs, endMs] = [secondsOf(exchange, "start", 0) * 1000, secondsOf(exchange, "end", Infinity) * 1000];
  const samples = await sandboxMetrics(platform.call, sandbox, { sandboxId });
  const rows = samples.map((sample) => ({ ...sample, timestampUnix: Math.floor(Date.parse(sample.timestamp) / 1000) }));
  const isWanted = ({ timestampUnix: at }: { readonly timestampUnix: number }): boolean =>
    at * 1000 >= startMs && at * 1000 <= endMs;
  sendJson(exchange.response, 200, rows.filter(isWanted));
};

const templates: Handle = ({ exchange, platform }) => {
  const rows = platform.config.templates.map(({ name }) => ({
    templateID: name,
    public: true,
    aliases: [name],
    names: [name],
  }));
  sendJson(exchange.response, 200, rows);
};

const templateAlias: Handle = ({ exchange, platform }, { name = "" }) =>
  sendJson(exchange.response, 200, { templateID: findTemplate(platform.config, name).name, public: true });

/** The routes that E2B's SDKs call with a key. */
export const controlRoutes: readonly Route[] = [
  { method: "POST", path: "/sandboxes", handle: create(false) },
  { method: "POST", path: "/v2/sandboxes", handle: create(true) },
  { method: "GET", path: "/sandboxes", handle: list },
  { method: "GET", path: "/v2/sandboxes", handle: list },
  { method: "GET", path: "/sandboxes/{id}", handle: get },
  { method: "DELETE", path: "/sandboxes/{id}", handle: kill },
  { method: "POST", path: "/sandboxes/{id}/connect", handle: connect },
  { method: "POST", path: "/v2/sandboxes/{id}/connect", handle: connect },
  { method: "POST", path: "/sandboxes/{id}/timeout", handle: setTimeoutOf },
  { method: "POST", path: "/sandboxes/{id}/refreshes", handle: refresh },
  { method: "GET", path: "/sandboxes/{id}/metrics", handle: metrics },
  { method: "GET", path: "/templates", handle: templates },
  { method: "GET", path: "/v2/templates", handle: templates },
  { method: "GET", path: "/templates/aliases/{name}", handle: templateAlias },
  ...refusedRoutes.map(ofLiveSandbox),
];

/** What is refused of a sandbox is refused of one that is there: SDKs tell a missing one apart. */
function ofLiveSandbox(route: E2bRoute<unknown>): Route {
  if (!route.path.includes("/sandboxes/{id}/")) return route;
  const handle: Handle = async (context, parameters) => {
    await liveSandbox(context, parameters["id"] ?? "");
    return route.handle(context, parameters);
  };
  return { ...route, handle };
}

function bodyOf({ exchange, inFlight, caller }: ControlRequest): Promise<unknown> {
  return readJson(exchange, inFlight, caller.principal);
}

/** The caller's own sandbox, if its session has not ended. @throws E2bRefusal 404, also for another key's */
async function liveSandbox({ sandboxes, caller, exchange }: ControlRequest, id: string): Promise<E2bSandbox> {
  const sandbox = sandboxes.findOwn(id, caller.principal);
  if (sandbox === null || !(await sandboxes.isAlive(sandbox, exchange.signal))) throw noSandbox(id);
  return sandbox;
}

/** It ends no sooner than that. */
function prolong({ sandboxes, platform }: ControlRequest, sandbox: E2bSandbox, timeoutMs: number): E2bSandbox {
  const endAtMs = Math.max(sandbox.endAtMs, platform.now() + timeoutMs);
  return sandboxes.endAt(sandbox, endAtMs) ?? sandbox;
}

function secondsOf({ query }: Exchange, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,12}$/.test(text))
    throw new E2bRefusal(400, `${name}: expected seconds since 1970, got ${JSON.stringify(text.slice(0, 80))}`);
  return Number(text);
}
