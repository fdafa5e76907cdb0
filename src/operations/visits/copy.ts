import { invalidField } from "../../errors/glovebox-error.ts";
import type { Platform } from "../../platform/platform.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { copyIn } from "../../sandbox/copy/copy-in.ts";
import { copyOut } from "../../sandbox/copy/copy-out.ts";
import type { Operation } from "../operation.ts";
import { reachSandbox } from "../sandboxes/reach-sandbox.ts";
import { copyInRequestSchema, copyOutRequestSchema, copyResponseSchema, type CopyResponse } from "./schema.ts";

/** A file or folder of this machine into a live sandbox. */
export const copyInOperation: Operation<typeof copyInRequestSchema, typeof copyResponseSchema, Platform> = {
  name: "copy_into_sandbox",
  description: "Copies a file or folder of this machine into a live sandbox of this user, whichever process has it.",
  request: copyInRequestSchema,
  response: copyResponseSchema,
  run: async (platform, request, { signal }) => {
    const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
    const source = checkPath(request.source, "source");
    const { id, files } = await reachSandbox(platform, request.sandbox_id, signal);
    await copyIn({ ...platform.host, files, source, target: request.target, budget }, { signal });
    return responseOf(id, budget);
  },
};

/** A file or folder of a live sandbox onto this machine. */
export const copyOutOperation: Operation<typeof copyOutRequestSchema, typeof copyResponseSchema, Platform> = {
  name: "copy_out_of_sandbox",
  description: "Copies a file or folder out of a live sandbox of this user onto this machine, and writes nowhere else.",
  request: copyOutRequestSchema,
  response: copyResponseSchema,
  run: async (platform, request, { signal }) => {
    const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
    const target = checkPath(request.target, "target");
    const { id, files } = await reachSandbox(platform, request.sandbox_id, signal);
    await copyOut({ ...platform.host, files, source: request.source, target, budget }, { signal });
    return responseOf(id, budget);
  },
};

function responseOf(id: string, { entries, bytes, warnings }: CopyBudget): CopyResponse {
  return { sandbox_id: id, entries, bytes, warnings: [...warnings] };
}

/** @throws INVALID_REQUEST */
function checkPath(given: string, field: string): string {
  if (given === "" || given.includes("\0")) throw invalidField(field, "a path of this machine", given);
  return given;
}
