import { z } from "zod";

export const imagesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Engine by its name, or auto; default: the deployment's."),
});

export const pullImagesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Engine that runs images, by its name, or auto; default: the deployment's."),
  images: z.array(z.string()).optional().describe("References to pull; default: every default image."),
});

const imageRow = z.object({
  image: z.string(),
  used_for: z.array(z.string()).describe("Kinds of work whose default it is."),
  engine: z.string(),
  present: z.boolean(),
});

export const imagesResponseSchema = z.object({ images: z.array(imageRow) });

export type ImagesRequest = z.input<typeof imagesRequestSchema>;
export type PullImagesRequest = z.input<typeof pullImagesRequestSchema>;
/** One image on one engine. */
export type ImageRow = z.output<typeof imageRow>;
