import { E2bRefusal, noSandbox, fieldNotServed, notServed } from "./refusal.ts";
import { readJson, sendJson, sendNothing, type Exchange, type E2bRoute } from "./exchange.ts";
import type { E2bContext } from "./e2b-request.ts";
import { findTemplate, type E2bCaller, type E2bSandbox, type E2bSandboxNeeds } from "./e2b-sandbox.ts";
import { sandboxMetrics } from "./e2b-sandboxes.ts";
import { z } from "zod";
import type { Config } from "../config/config.ts";
import { maxEnvironmentEntries } from "../operations/contract/wire-values.ts";
import { textsByName } from "../operations/contract/request-schemas.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import type { SandboxHosts } from "./sandbox-ports.ts";

/**
 * The version of E2B's daemon whose features are here: with it, the SDKs leave the user to the server, upload plain
 * bytes with attributes, watch folders with entries and close standard input, and refuse by themselves what came later.
 */
const envdVersion = "0.6.4";
const clientId = "glovebox";

/** Answer of create and connect. */
function connectedRow(
  { id, template, token, trafficToken, isPublic }: E2bSandbox,
  { authority }: Pick<SandboxHosts, "authority">,
): object {
  return {
    sandboxID: id,
    templateID: template.name,
    alias: template.name,
    clientID: clientId,
    envdVersion,
    envdAccessToken: token,
    trafficAccessToken: template.keepsVariables || !isPublic ? trafficToken : null,
    domain: authority,
  };
}

/** One row of a list. */
function listedRow({ id, template, metadata, limits, startedAtMs, endAtMs }: E2bSandbox): object {
  return {
    sandboxID: id,
    templateID: template.name,
    alias: template.name,
    clientID: clientId,
    startedAt: new Date(startedAtMs).toISOString(),
    endAt: new Date(endAtMs).toISOString(),
    state: "running",
    cpuCount: Math.max(1, Math.ceil(limits.cpus)),
    memoryMB: limits.memoryMb,
    diskSizeMB: limits.diskMb,
    envdVersion,
    metadata,
  };
}

/** Answer about one sandbox. */
function detailRow(sandbox: E2bSandbox, { authority }: Pick<SandboxHosts, "authority">): object {
  return {
    ...listedRow(sandbox),
    domain: authority,
    envdAccessToken: sandbox.token,
    allowInternetAccess: false,
    lifecycle: { onTimeout: "kill", autoResume: false },
  };
}

const noPause = ["Pausing and resuming", "Keep the sandbox running with setTimeout, or end it with kill."] as const;
const noSnapshots = ["Snapshots and forks", "Create a new sandbox and write its files there."] as const;
const noNetwork = [
  "A network of sandboxes",
  "They have none; use Glovebox's own API for programs that need one.",
] as const;
const noVolumes = ["Volumes", "Write the files into each sandbox."] as const;
const noSecrets = ["Secrets", "Set envVars when creating a sandbox, or use Glovebox's own secrets."] as const;
const noBuilds = [
  "Building templates",
  "Use base or code-interpreter-v1; `glovebox images` shows what they are.",
] as const;
const noLogs = ["Logs of sandboxes", "`glovebox logs` shows them."] as const;

type Refusal = readonly [what: string, instead: string];

const refused: readonly (readonly [routes: string, refusal: Refusal])[] = [
  ["POST /sandboxes/{id}/pause, POST /sandboxes/{id}/resume", noPause],
  ["POST /sandboxes/{id}/snapshots, POST /sandboxes/{id}/fork, GET /snapshots", noSnapshots],
  ["PUT /sandboxes/{id}/network", noNetwork],
  ["GET /v2/sandboxes/{id}/logs, GET /sandboxes/{id}/logs", noLogs],
  ["GET /volumes, POST /volumes, GET /volumes/{id}, DELETE /volumes/{id}", noVolumes],
  ["GET /volumecontent/{id}/dir, POST /volumecontent/{id}/dir, GET /volumecontent/{id}/path", noVolumes],
  ["PATCH /volumecontent/{id}/path, DELETE /volumecontent/{id}/path", noVolumes],
  ["GET /volumecontent/{id}/file, PUT /volumecontent/{id}/file", noVolumes],
  ["GET /secrets, POST /secrets, GET /secrets/{id}, POST /secrets/{id}, DELETE /secrets/{id}", noSecrets],
  ["POST /templates, POST /v2/templates, POST /v3/templates, DELETE /templates/{id}", noBuilds],
  ["POST /templates/{id}, PATCH /templates/{id}, GET /templates/{id}/files/{hash}", noBuilds],
  ["POST /v2/templates/{id}/builds/{build}, GET /templates/{id}/builds/{build}/status", noBuilds],
  ["POST /templates/tags, DELETE /templates/tags, GET /templates/{id}/tags", noBuilds],
];

/** Routes of E2B that are refused by name, and what to do instead. */
const refusedRoutes: readonly E2bRoute<unknown>[] = refused.flatMap(([routes, refusal]) =>
  routes.split(", ").map((text) => {
    const [method = "", path = ""] = text.split(" ");
    return {
      method,
      path,
      handle: () => {
        throw notServed(...refusal);
      },
    };
  }),
);

/** One page of a list. */
interface SandboxPage {
  readonly sandboxes: readonly E2bSandbox[];
  /** Null: it is the last page. */
  readonly nextToken: string | null;
}

const maxLimit = 100;
const maxMetadataPairs = 64;

/** The page of a principal's sandboxes that a query asks for. @throws E2bRefusal 400 for a query that is not valid */
function listSandboxes(own: readonly E2bSandbox[], query: URLSearchParams): SandboxPage {
  const states = listed(query, "state");
  const unknown = states.find((state) => state !== "running" && state !== "paused");
  if (unknown !== undefined) throw bad("state", "running or paused", unknown);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw bad("order", "asc or desc", order);
  const limit = Number(query.get("limit") ?? maxLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) throw bad("limit", "1 to 100", query.get("limit"));
  const direction = order === "asc" ? 1 : -1;
  // Nothing is ever paused here.
  const isWanted = states.length === 0 || states.includes("running") ? fits(query) : () => false;
  const sorted = own
    .filter(isWanted)
    .toSorted((one, other) => direction * (one.startedAtMs - other.startedAtMs || (one.id < other.id ? -1 : 1)));
  const after = readToken(query.get("nextToken"));
  const isAfter = ({ startedAtMs, id }: E2bSandbox): boolean =>
    after === null ||
    direction * (startedAtMs - after.startedAtMs || (id === after.id ? 0 : id < after.id ? -1 : 1)) > 0;
  const left = sorted.filter(isAfter);
  const sandboxes = left.slice(0, limit);
  const last = sandboxes.at(-1);
  return { sandboxes, nextToken: left.length > limit && last !== undefined ? tokenOf(last) : null };
}

function fits(query: URLSearchParams): (sandbox: E2bSandbox) => boolean {
  const template = query.get("template");
  const metadata = readMetadata(query.get("metadata") ?? "");
  const since = query.get("startedAfter");
  const sinceMs = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  if (Number.isNaN(sinceMs)) throw bad("startedAfter", "a time such as 2026-01-31T12:00:00Z", since);
  return (sandbox) =>
    (template === null || sandbox.template.name === template) &&
    sandbox.startedAtMs >= sinceMs &&
    metadata.every(([name, value]) => Object.hasOwn(sandbox.metadata, name) && sandbox.metadata[name] === value);
}

/** The SDKs encode names and values before they make a form of them. */
function readMetadata(text: string): readonly (readonly [string, string])[] {
  const pairs = [...new URLSearchParams(text)];
  if (pairs.length > maxMetadataPairs) throw bad("metadata", `at most ${maxMetadataPairs} pairs`, "more");
  try {
    return pairs.map(([name, value]) => [decodeURIComponent(name), decodeURIComponent(value)]);
  } catch {
    throw bad("metadata", "a form whose names and values are percent-encoded", text);
  }
}

/** Names and states are lists with commas, which may be repeated. */
function listed(query: URLSearchParams, name: string): readonly string[] {
  return query.getAll(name).flatMap((value) => value.split(",").filter(Boolean));
}

function tokenOf({ startedAtMs, id }: E2bSandbox): string {
  return Buffer.from(`${startedAtMs} ${id}`).toString("base64url");
}

function readToken(token: string | null): { readonly startedAtMs: number; readonly id: string } | null {
  if (token === null || token === "") return null;
  const [, startedAt, id] = /^(\d{1,16}) ([a-z0-9]{1,32})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (startedAt === undefined || id === undefined) throw bad("nextToken", "a token of an earlier page", token);
  return { startedAtMs: Number(startedAt), id };
}

function bad(field: string, expected: string, got: string | null): E2bRefusal {
  return new E2bRefusal(400, `${field}: expected ${expected}, got ${JSON.stringify((got ?? "").slice(0, 80))}`);
}

/** E2B's own default and longest time. */
const defaultSeconds = 300;
const maxSeconds = 24 * 60 * 60;
const maxMetadata = 64;
const maxMetadataCharacters = 1024;
const whole = "0.0.0.0/0";
const maxHost = 253;
/** `${PORT}` stands for the port. */
const hostForm = /^[A-Za-z0-9](?:[A-Za-z0-9.-]|\$\{PORT\})*(?::(?:\d{1,5}|\$\{PORT\}))?$/;

const timeout = z.int().optional();

const createSchema = z.strictObject({
  templateID: z.string().min(1).max(200),
  timeout,
  metadata: textsByName(maxMetadata).optional(),
  envVars: textsByName(maxEnvironmentEntries).optional(),
  secure: z.boolean().optional(),
  allow_internet_access: z.boolean().optional(),
  network: z.record(z.string(), z.unknown()).meta({ maxProperties: 16 }).optional(),
  autoPause: z.boolean().optional(),
  autoPauseMemory: z.boolean().optional(),
  autoResume: z.object({ enabled: z.boolean().optional() }).optional(),
  mcp: z.unknown().optional(),
  iam: z.unknown().optional(),
  volumeMounts: z.array(z.unknown()).max(64).optional(),
});
const timeoutSchema = z.strictObject({ timeout });
const refreshSchema = z.strictObject({ duration: timeout });

type Network = Readonly<Record<string, unknown>>;
type CreateBody = z.output<typeof createSchema>;

interface CreateRules {
  readonly asksForInternet: boolean;
  readonly isLocal: boolean;
  readonly config: Pick<Config, "templates">;
}

/**
 * What a client asks of a new sandbox. `asksForInternet`: whether `allow_internet_access` is only sent by clients that
 * mean it; older ones always send true. `isLocal`: whether only this machine reaches the server, so that ports are
 * public unless the client says otherwise, as E2B's are; elsewhere the client has to say it.
 * @throws E2bRefusal 400 for what is not served, 404 for an unknown template; INVALID_REQUEST
 */
function readCreate(body: unknown, { asksForInternet, isLocal, config }: CreateRules): E2bSandboxNeeds {
  const asked = parseRequest({ request: createSchema }, body);
  refuseUnserved(asked, asksForInternet);
  const { templateID, timeout: seconds = defaultSeconds, metadata = {}, envVars = {} } = asked;
  for (const [name, value] of Object.entries(metadata)) {
    if (name.length + value.length <= maxMetadataCharacters) continue;
    throw new E2bRefusal(400, `metadata: expected names and values of together ${maxMetadataCharacters} characters`);
  }
  for (const name of Object.keys(envVars)) {
    if (!/^[A-Za-z_]\w{0,255}$/.test(name)) {
      throw new E2bRefusal(400, `envVars: expected names of letters, digits and underscores, got ${quoted(name)}`);
    }
  }
  return {
    ...{ template: findTemplate(config, templateID), timeoutMs: toMs(seconds, "timeout"), metadata, envVars },
    ...readInwards(isLocal, asked.network),
  };
}

/** The time of connect: its default is that of a new sandbox. @throws E2bRefusal, INVALID_REQUEST */
function readConnect(body: unknown): number {
  const { timeout: seconds = defaultSeconds } = parseRequest({ request: timeoutSchema }, body);
  return toMs(seconds, "timeout");
}

/** The time of setTimeout, from now on; zero and less end it now. @throws E2bRefusal, INVALID_REQUEST */
function readTimeout(body: unknown): number {
  const { timeout: seconds } = parseRequest({ request: timeoutSchema }, body);
  if (seconds === undefined) throw new E2bRefusal(400, "timeout: expected a number of seconds, got nothing");
  return seconds <= 0 ? 0 : toMs(seconds, "timeout");
}

/** The time of refreshes. @throws E2bRefusal, INVALID_REQUEST */
function readRefresh(body: unknown): number {
  const { duration = defaultSeconds } = parseRequest({ request: refreshSchema }, body);
  return toMs(duration, "duration");
}

function toMs(seconds: number, field: string): number {
  if (seconds > 0 && seconds <= maxSeconds) return seconds * 1000;
  throw new E2bRefusal(400, `${field}: expected 1 to ${maxSeconds} seconds, got ${seconds}`);
}

/** Nothing that a client means is ignored. */
function refuseUnserved(asked: CreateBody, asksForInternet: boolean): void {
  const { network, autoPause, autoPauseMemory, autoResume, mcp, iam, volumeMounts } = asked;
  if (autoPause === true || autoPauseMemory === false || autoResume?.enabled === true) {
    throw fieldNotServed("autoPause, autoPauseMemory and autoResume", "sandboxes cannot be paused here");
  }
  if (mcp !== undefined)
    throw fieldNotServed("mcp", "there is no MCP gateway inside; `glovebox mcp wrap` runs servers");
  if (iam !== undefined) throw fieldNotServed("iam", "sandboxes have no workload identity");
  if (volumeMounts !== undefined && volumeMounts.length > 0)
    throw fieldNotServed("volumeMounts", "there are no volumes");
  if (asksForInternet && asked.allow_internet_access === true) {
    throw fieldNotServed("allow_internet_access", "sandboxes of this API have no network; leave it out or send false");
  }
  if (network !== undefined && !isClosed(network)) {
    throw fieldNotServed("network", `sandboxes of this API have no network; leave its rules out or deny ${whole}`);
  }
}

/** Whether rules for the way out only say what holds anyway. */
function isClosed({ denyOut, allowPublicTraffic: _, maskRequestHost: _host, ...others }: Network): boolean {
  const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);
  const isWhole = isEmpty(denyOut) || (Array.isArray(denyOut) && denyOut.includes(whole));
  return isWhole && Object.entries(others).every(([name, value]) => name === "allowOut" && isEmpty(value));
}

/** Who may reach its ports, and as which host. @throws E2bRefusal */
function readInwards(
  isLocal: boolean,
  { allowPublicTraffic: isPublic = isLocal, maskRequestHost: host = null }: Network = {},
): Pick<E2bSandboxNeeds, "isPublic" | "maskedHost"> {
  if (typeof isPublic !== "boolean") throw new E2bRefusal(400, "allowPublicTraffic: expected true or false");
  const isHost = typeof host === "string" && host.length <= maxHost && hostForm.test(host);
  if (host !== null && !isHost)
    throw new E2bRefusal(400, "maskRequestHost: expected a host such as app.example:${PORT}");
  return { isPublic, maskedHost: host };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

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
