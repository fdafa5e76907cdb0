import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";

const request = z.strictObject({
  folder: z.string().min(1).describe("Folder of this machine, absolute or relative to the working directory."),
  engine: z.string().optional().describe("Engine whose images; local: Bun alone; default: the deployment's, and Bun."),
});

const preparedResponseSchema = z.object({
  files: z.array(z.object({ file: z.string(), what: z.string(), sha256: z.string(), size_bytes: z.number() })),
});

const exportRequest = request.extend({
  e2b: z.boolean().optional().describe("Whether also the images of the templates of E2B's clients."),
});

/** `export_prepared`: images and Bun for a machine without a network, in a folder (SPEC RT5). */
export const exportPreparedContract = defineOperation({
  name: "export_prepared",
  audience: "local",
  description: "Writes the default images, that of sessions, and Bun into a folder, for a machine without a network.",
  request: exportRequest,
  response: preparedResponseSchema,
  routes: [],
});

/** `import_prepared`: imports such a folder. */
export const importPreparedContract = defineOperation({
  name: "import_prepared",
  audience: "local",
  description: "Takes over a folder that export_prepared has written, each file checked by its digest first.",
  request,
  response: preparedResponseSchema,
  routes: [],
});

export type PreparedResponse = z.output<typeof preparedResponseSchema>;
