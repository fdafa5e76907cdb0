import { E2bRefusal } from "./refusal.ts";

/** One route; parts of its path in braces are parameters: `/sandboxes/{id}`. */
export interface E2bRoute<Context> {
  readonly method: string;
  readonly path: string;
  readonly handle: (context: Context, parameters: Readonly<Record<string, string>>) => Promise<void> | void;
}

/**
 * Handles a request by the first route that fits.
 * @throws E2bRefusal 404 for an unknown path, 405 for a method that the path does not have, 400 for a malformed path
 */
export async function handleRoute<Context>(
  routes: readonly E2bRoute<Context>[],
  { method, path }: { readonly method: string; readonly path: string },
  context: Context,
): Promise<void> {
  const fitting = routes.flatMap((route) => {
    const parameters = matchPath(route.path, path);
    return parameters === null ? [] : [{ route, parameters }];
  });
  const found = fitting.find(({ route }) => route.method === method);
  if (found !== undefined) return found.route.handle(context, found.parameters);
  if (fitting.length === 0) throw new E2bRefusal(404, `path: there is no ${path.slice(0, 200)} here`);
  const methods = [...new Set(fitting.map(({ route }) => route.method))].join(" or ");
  throw new E2bRefusal(405, `method: expected ${methods}, got ${method}`);
}

/** The parameters in a path; null: it does not fit. @throws E2bRefusal for a malformed percent-encoding */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split("/");
  const given = path.split("/");
  if (expected.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith("{")) parameters[part.slice(1, -1)] = value;
    else if (part !== value) return null;
  }
  try {
    return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new E2bRefusal(400, "path: malformed percent-encoding");
  }
}
