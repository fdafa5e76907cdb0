import type { CallOptions, ContainerState } from "../../engine.ts";
import type { Api } from "../http/api.ts";

/** The part of an event that is read. */
interface EventAnswer {
  readonly Action?: string;
  readonly Actor?: { readonly Attributes?: Readonly<Record<string, string>> };
}

/**
 * The state of a container that is gone, from the engine's short history of events. Null for what it no longer has:
 * Docker keeps the last 256 events of all containers.
 */
export async function readLastState(api: Api, id: string, { signal }: CallOptions = {}): Promise<ContainerState> {
  const { body: info } = await api.call("ask for the time", { method: "GET", path: "/info", signal });
  // The engine's clock: with a time in the past the answer ends by itself.
  const now = Date.parse((info as { readonly SystemTime?: string }).SystemTime ?? "") / 1000;
  const filters = JSON.stringify({ container: [id], event: ["die", "died", "oom"] });
  const query = { since: "1", until: now.toFixed(3), filters };
  const { body } = await api.call("ask for past events", { method: "GET", path: "/events", query, signal });
  return stateFromEvents(parseEvents(body));
}

/** The last state that the events report; null for what they do not contain. */
export function stateFromEvents(events: readonly EventAnswer[]): ContainerState {
  const exitCode = events.findLast((event) => event.Action === "die")?.Actor?.Attributes?.["exitCode"];
  const oomKilled = events.some((event) => event.Action === "oom") || (exitCode === undefined ? null : false);
  return { running: false, exitCode: exitCode === undefined ? null : Number(exitCode), oomKilled };
}

/** The events of an answer: one JSON object (already parsed when it is the only one), or one a line. */
export function parseEvents(body: unknown): readonly EventAnswer[] {
  if (typeof body !== "string") return body === null ? [] : [body as EventAnswer];
  return body
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as EventAnswer);
}
