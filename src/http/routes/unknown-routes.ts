import type { FastifyInstance } from "fastify";
import { HttpRefusal } from "../server/http-refusal.ts";

/** What is asked for where there is nothing, or in a way that is not offered there. Comes before all other routes. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const known: { readonly methods: readonly string[]; readonly path: RegExp }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    known.push({ methods: [method].flat(), path: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`) });
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = "/"] = request.url.split("?", 1);
    const offered = known.flatMap((route) => (route.path.test(path) ? route.methods : []));
    if (offered.length === 0) throw notFound(path);
    void reply.header("allow", offered.join(", "));
    throw new HttpRefusal(405, "INVALID_REQUEST", `method: ${request.method} is not offered here.`, {
      suggestion: `Use ${offered.join(" or ")}; /docs describes every route.`,
      context: { field: "method", allowed: offered },
    });
  });
}

function notFound(path: string): HttpRefusal {
  return new HttpRefusal(404, "NOT_FOUND", "There is nothing at this path.", {
    suggestion: "See /docs and /openapi.json for what there is.",
    context: { path: path.slice(0, 200) },
  });
}
