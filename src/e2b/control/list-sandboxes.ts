import type { E2bSandbox } from "../sandboxes/e2b-sandbox.ts";
import { E2bRefusal } from "../http/refusal.ts";

/** One page of a list. */
export interface SandboxPage {
  readonly sandboxes: readonly E2bSandbox[];
  /** Null: it is the last page. */
  readonly nextToken: string | null;
}

const maxLimit = 100;
const maxMetadataPairs = 64;

/** The page of a principal's sandboxes that a query asks for. @throws E2bRefusal 400 for a query that is not valid */
export function listSandboxes(own: readonly E2bSandbox[], query: URLSearchParams): SandboxPage {
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
