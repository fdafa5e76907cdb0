import { handle } from "../handling/handler.ts";
import { answeringEngines, findSandboxes } from "./find-sandboxes.ts";
import { sandboxNotFound } from "./sandbox-errors.ts";
import { listSandboxesContract, pruneSandboxesContract, removeSandboxesContract } from "./sandboxes-contract.ts";

/** What runs now. */
export const listSandboxesHandler = handle(listSandboxesContract, async (platform, request, call) => {
  const found = await findSandboxes(platform, request.engine, call.signal);
  const rows = found.map(({ row }) => row);
  return { sandboxes: rows.toSorted((a, b) => a.created_at.localeCompare(b.created_at)) };
});

/** Ends and removes sandboxes by id. */
export const removeSandboxesHandler = handle(removeSandboxesContract, async (platform, request, call) => {
  const ids = [...new Set(request.ids)];
  const own = ids.map((id) => platform.findLive(id)).filter((sandbox) => sandbox !== undefined);
  if (own.length === ids.length) {
    await Promise.all(own.map((sandbox) => sandbox.remove()));
    return { removed: ids };
  }
  const found = await findSandboxes(platform, undefined, call.signal);
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
});

/** Removes what dead servers left, or everything. */
export const pruneSandboxesHandler = handle(pruneSandboxesContract, async (platform, request, call) => {
  const engines = await answeringEngines(platform, undefined, call.signal);
  const swept = (await Promise.all(engines.map((engine) => platform.reaper.sweep(engine)))).flat();
  if (request.all !== true) return { removed: swept };
  const rest = await findSandboxes(platform, undefined, call.signal);
  await Promise.all(rest.map((sandbox) => sandbox.remove()));
  return { removed: [...swept, ...rest.map(({ row }) => row.sandbox_id)] };
});
