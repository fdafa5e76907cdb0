import { z } from "zod";
import { about } from "../contract/place-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { sandboxId } from "./sandbox-id-schema.ts";

const requestSchema = z.strictObject({ sandbox_id: sandboxId });

const responseSchema = z.object(about);

/** `find_sandbox_place`: which session or environment a sandbox belongs to. */
export const findSandboxPlaceContract = defineOperation({
  name: "find_sandbox_place",
  audience: "everyone",
  description:
    "Names the environment or the session that lives in one of your sandboxes, and whose files and background processes it therefore has.",
  request: requestSchema,
  response: responseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{sandbox_id}/place" }],
});
