import type { Platform } from "../../platform/platform.ts";
import type { Operation } from "../operation.ts";
import { answeringEngines, findSandboxes } from "./find.ts";
import { sandboxNotFound } from "./sandbox-errors.ts";
import {
  listSandboxesRequestSchema,
  pruneSandboxesRequestSchema,
  removedResponseSchema,
  removeSandboxesRequestSchema,
  sandboxesResponseSchema,
} from "./schema.ts";

/** What runs now. */
export const listSandboxesOperation: Operation<
  typeof listSandboxesRequestSchema,
  typeof sandboxesResponseSchema,
  Platform
> = {
  name: "list_sandboxes",
  description: "Lists the sandboxes that exist now, on every engine that answers.",
  request: listSandboxesRequestSchema,
  response: sandboxesResponseSchema,
  run: async (platform, request, call) => {
    const found = await findSandboxes(platform, request.engine, call.signal);
    const rows = found.map(({ row }) => row);
    return { sandboxes: rows.toSorted((a, b) => a.created_at.localeCompare(b.created_at)) };
  },
};

/** Ends and removes sandboxes by id. */
export const removeSandboxesOperation: Operation<
  typeof removeSandboxesRequestSchema,
  typeof removedResponseSchema,
  Platform
> = {
  name: "remove_sandboxes",
  description: "Ends and removes the named sandboxes, whoever made them.",
  request: removeSandboxesRequestSchema,
  response: removedResponseSchema,
  run: async (platform, request, call) => {
    const found = await findSandboxes(platform, undefined, call.signal);
    const ids = [...new Set(request.ids)];
    const chosen = ids.map((id) => {
      const match = found.find(({ row }) => row.sandbox_id === id);
      if (match === undefined)
        throw sandboxNotFound(
          id,
          found.map(({ row }) => row.sandbox_id),
        );
      return match;
    });
    await Promise.all(chosen.map((sandbox) => sandbox.remove()));
    return { removed: ids };
  },
};

/** Removes what dead servers left, or everything. */
export const pruneSandboxesOperation: Operation<
  typeof pruneSandboxesRequestSchema,
  typeof removedResponseSchema,
  Platform
> = {
  name: "prune_sandboxes",
  description: "Removes the sandboxes that dead servers left on the engines, or all of them.",
  request: pruneSandboxesRequestSchema,
  response: removedResponseSchema,
  run: async (platform, request, call) => {
    const engines = await answeringEngines(platform, undefined, call.signal);
    const swept = (await Promise.all(engines.map((engine) => platform.reaper.sweep(engine)))).flat();
    if (request.all !== true) return { removed: swept };
    const rest = await findSandboxes(platform, undefined, call.signal);
    await Promise.all(rest.map((sandbox) => sandbox.remove()));
    return { removed: [...swept, ...rest.map(({ row }) => row.sandbox_id)] };
  },
};
