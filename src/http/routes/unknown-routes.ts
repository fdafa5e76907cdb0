import type { FastifyInstance } from "fastify";
import { HttpRefusal } from "../server/http-refusal.ts";

/** Refuses unknown paths and methods. Comes after the guard, before all routes. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const known: { readonly methods: readonly string[]; readonly url: string; readonly path: RegExp }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    known.push({ methods: [method].flat(), url, path: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`) });
  });
  // Before the body is read, whatever the method.
  app.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const [path = "/"] = request.url.split("?", 1);
    const exact = known.filter(({ url }) => url === path);
    const fitting = exact.length > 0 ? exact : known.filter((route) => route.path.test(path));
    const offered = fitting.flatMap(({ methods }) => methods);
    if (offered.length === 0) throw notFound(path);
    void reply.header("allow", offered.join(", "));
    throw new HttpRefusal(405, "INVALID_REQUEST", `method: ${request.method} is not offered here.`, {
      suggestion: `Use ${offered.join(" or ")}; /docs describes every route.`,
      context: { field: "method", allowed: offered },
    });
  });
}

function notFound(path: string): HttpRefusal {
  return new HttpRefusal(404, "NOT_FOUND", "There is no such path.", {
    suggestion: "/docs and /openapi.json list all paths.",
    context: { path: path.slice(0, 200) },
  });
}
