import { z } from "zod";
import { listOf, maxNamed } from "./contract/request-schemas.ts";
import { defineOperation } from "./contract/operation-contract.ts";

const imagesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Engine name, or auto; default: the deployment's."),
});

const pullImagesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Engine that runs images, by its name, or auto; default: the deployment's."),
  images: listOf(z.string(), maxNamed).optional().describe("References to pull; default: every default image."),
  e2b: z.boolean().optional().describe("Whether also those of the templates of E2B's clients, pulled or built."),
});

const buildImagesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Engine that runs images, by its name, or auto; default: the deployment's."),
  images: listOf(z.string(), maxNamed)
    .optional()
    .describe("Images of Glovebox's own: bun-runner-base, glovebox-agent, or glovebox-agent:NAME for another agent."),
});

const imageRow = z.object({
  image: z.string(),
  used_for: z.array(z.string()).describe("Kinds of work whose default it is."),
  engine: z.string(),
  present: z.boolean(),
});

const imagesResponseSchema = z.object({ images: z.array(imageRow) });

/** The default images of the deployment, and whether the engine has them. */
export const listImagesContract = defineOperation({
  name: "list_images",
  audience: "local",
  description: "Lists the default images, those of agents too, and whether the engine has them; reaches no registry.",
  request: imagesRequestSchema,
  response: imagesResponseSchema,
  routes: [],
});

/** Pulls or builds images ahead of their first use. */
export const pullImagesContract = defineOperation({
  name: "pull_images",
  audience: "local",
  description: "Pulls the named images, or every default image that the engine does not have.",
  request: pullImagesRequestSchema,
  response: imagesResponseSchema,
  routes: [],
});

/** Rebuilds Glovebox's own images, with the Bun and the agents of this version. */
export const buildImagesContract = defineOperation({
  name: "build_images",
  audience: "local",
  description:
    "Builds the named images of Glovebox's own, by default bun-runner-base, also when they are there already.",
  request: buildImagesRequestSchema,
  response: imagesResponseSchema,
  routes: [],
});

export type PullImagesRequest = z.input<typeof pullImagesRequestSchema>;

/** One image on one engine. */
export type ImageRow = z.output<typeof imageRow>;

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
