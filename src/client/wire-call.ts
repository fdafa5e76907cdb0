import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { takesBody, type OperationContract, type Route } from "../operations/contract/operation-contract.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import type { wireErrorSchema, WireEvent } from "../operations/contract/wire-messages.ts";
import type { z } from "zod";
import { fromBase64 } from "../library/objects/base64.ts";

/** A connection that failed or broke. */
export function brokenConnection(url: string, cause: unknown): GloveboxError {
  const { cause: inner } = cause as { readonly cause?: { readonly code?: unknown } };
  const code = typeof inner?.code === "string" ? ` (${inner.code})` : "";
  return new GloveboxError("NETWORK_ERROR", `The connection to ${url} failed${code}.`, {
    suggestion: "Check that the server runs at this URL (`glovebox serve`) and can be reached, then retry.",
    context: { url },
    cause,
  });
}

/** An answer that was cut off. */
export function cutAnswer(): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", "The connection ended before the answer was complete.", {
    suggestion: "The server ends a run when its client disconnects. Check what is still running, then retry.",
  });
}

/** An answer that this version of Glovebox never gives. */
export function strangeAnswer(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `The answer is not from Glovebox: ${why}.`, {
    suggestion: "Check the URL, and that server and client have the same version.",
    cause,
  });
}

type Underway = Exclude<WireEvent, { readonly event: "result" | "error" }>;

/** An event as the library reports it. */
export function eventOf(event: Underway): OperationEvent {
  switch (event.event) {
    case "sandbox":
      return {
        type: "sandbox",
        sandboxId: event.sandbox_id,
        ...(event.name === undefined ? {} : { name: event.name }),
      };
    case "output": {
      const { stream, text = "", base64 } = event;
      return {
        type: "output",
        stream,
        bytes: base64 === undefined ? new TextEncoder().encode(text) : fromBase64(base64),
      };
    }
    case "denied": {
      const { event: _, ...denial } = event;
      // A rule of a later version is passed on unchanged.
      return { type: "denied", denial: denial as Extract<OperationEvent, { type: "denied" }>["denial"] };
    }
    case "progress":
      return { type: "progress", message: event.message, fraction: event.fraction };
    case "warning":
      return { type: "warning", message: event.message };
  }
}

/** The response of an operation, checked against its schema. @throws NETWORK_ERROR if it does not match */
export function checkedResponse(contract: OperationContract, body: unknown): unknown {
  const parsed = contract.response.safeParse(body);
  if (!parsed.success) throw strangeAnswer(`its ${contract.name} has another form`, parsed.error);
  return parsed.data;
}

/** The server's own error; `more`: further facts about it. */
export function errorOfWire(
  { error_type: type, message, suggestion, context }: z.output<typeof wireErrorSchema>,
  more: Readonly<Record<string, unknown>> = {},
): GloveboxError {
  const known = Object.hasOwn(errorCatalogue, type) ? (type as ErrorType) : "INTERNAL";
  return new GloveboxError(known, message, { suggestion, context: { ...more, ...context } });
}

/** A request as it goes to a server. */
export interface RouteRequest {
  readonly method: Route["method"];
  /** With its query. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

/**
 * Where to send a request, and in which form: to the operation's route that has the most of the request's fields.
 * @throws UNSUPPORTED when no route fits
 */
export function requestOfRoute({ name, routes }: OperationContract, request: object): RouteRequest {
  const fields = new Map(Object.entries(request).filter(([, value]) => value !== undefined));
  const fitting = routes
    .map((route) => ({ route, named: namesIn(route.path) }))
    .filter(({ named }) => named.every((field) => fields.has(field)))
    .toSorted((one, other) => other.named.length - one.named.length);
  const [best] = fitting;
  if (best === undefined) throw unsupported(name);
  const { method } = best.route;
  const { path, rest } = pathOfFields(best.route.path, fields);
  if (takesBody(best.route)) return { method, path, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams();
  for (const [field, value] of rest) for (const one of [value].flat()) query.append(field, String(one));
  return { method, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}

/** A path with its fields filled in, and the remaining fields. */
export function pathOfFields(
  path: string,
  fields: ReadonlyMap<string, unknown>,
): { readonly path: string; readonly rest: ReadonlyMap<string, unknown> } {
  const named = namesIn(path);
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, field: string) => pathSegment(field, fields.get(field))),
    rest: new Map([...fields].filter(([field, value]) => !named.includes(field) && value !== undefined)),
  };
}

/** One segment of a path; `.` and `..` would lead to another route even when escaped. */
export function pathSegment(field: string, value: unknown): string {
  const text = String(value);
  if (text === "" || text === "." || text === "..") throw invalidField(field, "a name", text);
  return encodeURIComponent(text);
}

/** The error for what a server does not offer in this form. */
export function unsupported(name: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${name} is not available on servers in this form.`, {
    suggestion: "Use it on the server's own machine (for commands: without GLOVEBOX_URL).",
    context: { operation: name },
  });
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
}
