import { z } from "zod";
import type { Config } from "../../config/config.ts";
import { textsByName } from "../../operations/contract/request/bounded-schemas.ts";
import { maxEnvironmentEntries } from "../../operations/contract/request/request-maxima.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { E2bRefusal, fieldNotServed } from "../http/refusal.ts";
import type { E2bSandboxNeeds } from "../sandboxes/e2b-sandbox.ts";
import { findTemplate } from "../sandboxes/templates.ts";

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
export function readCreate(body: unknown, { asksForInternet, isLocal, config }: CreateRules): E2bSandboxNeeds {
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
export function readConnect(body: unknown): number {
  const { timeout: seconds = defaultSeconds } = parseRequest({ request: timeoutSchema }, body);
  return toMs(seconds, "timeout");
}

/** The time of setTimeout, from now on; zero and less end it now. @throws E2bRefusal, INVALID_REQUEST */
export function readTimeout(body: unknown): number {
  const { timeout: seconds } = parseRequest({ request: timeoutSchema }, body);
  if (seconds === undefined) throw new E2bRefusal(400, "timeout: expected a number of seconds, got nothing");
  return seconds <= 0 ? 0 : toMs(seconds, "timeout");
}

/** The time of refreshes. @throws E2bRefusal, INVALID_REQUEST */
export function readRefresh(body: unknown): number {
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
