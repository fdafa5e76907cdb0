import { findNamed } from "../../base/find-named.ts";
import { handle } from "../handling/handler.ts";
import { answeringEngines, findSandboxes, listedSandboxes, recordedSandboxes } from "./find-sandboxes.ts";
import { meantSandbox } from "./meant-sandbox.ts";
import { sandboxNotFound } from "./sandbox-errors.ts";
import { listSandboxesContract, pruneSandboxesContract, removeSandboxesContract } from "./sandboxes-contract.ts";

/** What runs now. */
export const listSandboxesHandler = handle(listSandboxesContract, async (platform, request, call) => {
  const rows =
    request.recorded === true
      ? await recordedSandboxes(platform, request.engine)
      : await listedSandboxes(platform, request.engine, call.signal);
  return { sandboxes: rows.toSorted((a, b) => a.created_at.localeCompare(b.created_at)) };
});

/** Ends and removes sandboxes by id. */
export const removeSandboxesHandler = handle(removeSandboxesContract, async (platform, request, call) => {
  const meant = await Promise.all(request.ids.map((word) => meantSandbox(platform, word, call, "ids")));
  const ids = [...new Set(meant)];
  const own = ids.map((id) => platform.findLive(id)).filter((sandbox) => sandbox !== undefined);
  if (own.length === ids.length) {
    await Promise.all(own.map((sandbox) => sandbox.remove()));
    return { removed: ids };
  }
  const found = await findSandboxes(platform, undefined, call.signal);
  const byId = found.map((sandbox) => ({ id: sandbox.row.sandbox_id, sandbox }));
  const chosen = ids.map((id) => {
    // What dead processes left has no names any more.
    const match = findNamed(id, byId, "ids");
    if (match !== undefined) return match;
    throw sandboxNotFound(
      id,
      byId.map((each) => each.id),
    );
  });
  const distinct = [...new Set(chosen)];
  await Promise.all(distinct.map(({ sandbox }) => sandbox.remove()));
  platform.lastFound.forget();
  return { removed: distinct.map(({ id }) => id) };
});

/** Removes what dead servers left, or everything. */
export const pruneSandboxesHandler = handle(pruneSandboxesContract, async (platform, request, call) => {
  const engines = await answeringEngines(platform, undefined, call.signal);
  const swept = (await Promise.all(engines.map((engine) => platform.reaper.sweep(engine)))).flat();
  const rest = request.all === true ? await findSandboxes(platform, undefined, call.signal) : [];
  await Promise.all(rest.map((sandbox) => sandbox.remove()));
  platform.lastFound.forget();
  return { removed: [...swept, ...rest.map(({ row }) => row.sandbox_id)] };
});
