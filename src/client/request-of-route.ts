import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { takesBody, type OperationContract, type Route } from "../operations/contract/operation-contract.ts";

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

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
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
