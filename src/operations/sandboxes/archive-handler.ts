import { GloveboxError } from "../../errors/glovebox-error.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { archiveOf, placeArchive } from "../../sandbox/copy/archive.ts";
import { handle } from "../handling/handler.ts";
import { packFilesContract, unpackFilesContract } from "./archive-contract.ts";
import { responseOf } from "./copy-handler.ts";
import { reachSandbox } from "./reach-sandbox.ts";

/** A file or folder of a live sandbox as a tar archive, the output of the call. */
export const packFilesHandler = handle(packFilesContract, async (platform, request, call) => {
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(packFilesContract, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  for await (const bytes of archiveOf(files, request.source, budget, call)) {
    await call.onEvent?.({ type: "output", stream: "stdout", bytes });
  }
  return responseOf(id, budget);
});

/** Unpacks a tar archive, the input of the call, into a live sandbox. */
export const unpackFilesHandler = handle(unpackFilesContract, async (platform, request, call) => {
  const { target, name, content_only: isContentOnly = false } = request;
  if (call.stdin === undefined) throw noArchive();
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(unpackFilesContract, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  await placeArchive({ files, archive: call.stdin, target, name, isContentOnly, budget }, call);
  return responseOf(id, budget);
});

function noArchive(): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "input: expected a tar archive, got nothing.", {
    suggestion: "Send the archive as the input of the call.",
    context: { field: "input" },
  });
}
