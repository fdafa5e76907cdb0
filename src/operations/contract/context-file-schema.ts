import { z } from "zod";

/** A file that goes with a request: by its path on the host, or with its content. */
export const contextFileSchema: z.ZodUnion<
  readonly [
    z.ZodString,
    z.ZodObject<
      {
        path: z.ZodString;
        content: z.ZodString;
        encoding: z.ZodOptional<z.ZodEnum<{ utf8: "utf8"; base64: "base64" }>>;
      },
      z.core.$strict
    >,
  ]
> = z.union([
  z.string().describe("Path of a file below the working directory; it keeps its relative path."),
  z.strictObject({
    path: z.string().describe("Relative path beside the code."),
    content: z.string(),
    encoding: z.enum(["utf8", "base64"]).optional().describe("How `content` is written; default utf8."),
  }),
]);
