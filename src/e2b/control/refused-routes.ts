import type { E2bRoute } from "../http/routes.ts";
import { notServed } from "../http/refusal.ts";

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
export const refusedRoutes: readonly E2bRoute<unknown>[] = refused.flatMap(([routes, refusal]) =>
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
