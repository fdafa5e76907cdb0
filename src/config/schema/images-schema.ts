import * as z from "zod";
import { defaultSessionImage } from "../../policy/session-profile.ts";
import { toolsImageOf } from "../../engines/images/tools-image.ts";
import type { Config } from "../config.ts";
import { allowedImages, imageReference } from "./leaf-schemas.ts";

const schema = z.strictObject(
  {
    python: imageReference().default("python:3.12-slim").describe("Image for one-shot Python runs."),
    javascript: imageReference().default("node:24-slim").describe("Image for one-shot JavaScript runs."),
    typescript: imageReference().default("node:24-slim").describe("Image for one-shot TypeScript runs."),
    session: imageReference()
      .default(defaultSessionImage)
      .describe("Image for sessions (`run_code`); Glovebox builds the default image."),
    session_base: imageReference().default("alpine:3").describe("Base image of the session image."),
    allow: allowedImages()
      .default([])
      .describe(
        "Further images that API keys may name, such as `python:3.13`, and registries, as `registry.example:5000/*`; a key can have its own list. Registry credentials are also used for these where only a project's files name them.",
      ),
  },
  "an object",
);

/** The keys of `images`. */
export function imagesSection(): z.ZodPrefault<typeof schema> {
  return schema.prefault({});
}

export function toImages(
  keys: z.output<typeof schema>,
): Pick<Config, "images" | "allowedImages" | "sessionBaseImage" | "toolsImage"> {
  const { python, javascript, typescript, session, session_base: sessionBaseImage, allow } = keys;
  const images = { python, javascript, typescript, session };
  return { images, allowedImages: allow, sessionBaseImage, toolsImage: toolsImageOf(session) };
}
