import { invalidField } from "../../errors/glovebox-error.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { copyIn } from "../../sandbox/copy/copy-in.ts";
import { copyOut } from "../../sandbox/copy/copy-out.ts";
import { copyIntoServer, copyOutOfServer } from "../../transfer/copy-with-server.ts";
import { handle } from "../handling/handler.ts";
import { reachSandbox } from "./reach-sandbox.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract, type CopyResponse } from "./copy-contract.ts";

/** Copies a file or folder of this machine into a live sandbox. */
export const copyIntoSandboxHandler = handle(copyIntoSandboxContract, async (platform, request, call) => {
  const source = checkPath(request.source, "source");
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return copyIntoServer(place.ask, platform.host, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  await copyIn({ ...platform.host, files, source, target: request.target, budget }, { signal: call.signal });
  return responseOf(id, budget);
});

/** Copies a file or folder of a live sandbox to this machine. */
export const copyOutOfSandboxHandler = handle(copyOutOfSandboxContract, async (platform, request, call) => {
  const target = checkPath(request.target, "target");
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return copyOutOfServer(place.ask, platform.host, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  await copyOut({ ...platform.host, files, source: request.source, target, budget }, { signal: call.signal });
  return responseOf(id, budget);
});

/** The totals of a copy. */
export function responseOf(id: string, { entries, bytes, warnings }: CopyBudget): CopyResponse {
  return { sandbox_id: id, entries, bytes, warnings: [...warnings] };
}

/** @throws INVALID_REQUEST */
function checkPath(given: string, field: string): string {
  if (given === "" || given.includes("\0")) throw invalidField(field, "a path of this machine", given);
  return given;
}
