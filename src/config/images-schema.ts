import { languageTable, type LanguageName } from "../languages/language-table.ts";
import * as z from "zod";
import { defaultSessionImage } from "../policy/session-profile.ts";
import { toolsImagesOf, type ToolsImages } from "../engines/tools-image.ts";
import type { Config, ConfiguredTemplate } from "./config.ts";
import { allowedImages, imageReference } from "./leaf-schemas.ts";

/** A key for each language. */
const ofLanguages = Object.fromEntries(
  languageTable.map(({ name, title, image }) => [
    name,
    imageReference().default(image).describe(`Image for one-shot ${title} runs.`),
  ]),
) as Readonly<Record<LanguageName, z.ZodDefault<ReturnType<typeof imageReference>>>>;

const schema = z.strictObject(
  {
    ...ofLanguages,
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

const maxTemplates = 100;
const templateName = /^[A-Za-z0-9][\w./-]{0,127}$/;
const usualTemplates = [
  { name: "base", recipe: "session-tools", keepsVariables: false },
  { name: "code-interpreter-v1", recipe: "code-interpreter", keepsVariables: true },
] as const;

const e2bSchema = z.strictObject(
  {
    templates: z
      .record(z.string(), imageReference(), "an object of images by the names of templates")
      .superRefine((given, context) => {
        const names = Object.keys(given);
        if (names.length > maxTemplates)
          context.addIssue({ code: "custom", message: `at most ${maxTemplates} templates` });
        for (const name of names.filter((each) => !templateName.test(each))) {
          const message = "a name of at most 128 letters, digits, dots, _, / and -, such as my-template";
          context.addIssue({ code: "custom", path: [name], message });
        }
      })
      .default({})
      .describe(
        'Images by the templates that E2B\'s clients name, such as `{"my-template": "registry.example:5000/data:1"}`; `base` and `code-interpreter-v1` replace those that Glovebox builds.',
      ),
  },
  "an object",
);

/** The keys of `e2b`. */
export function e2bSection(): z.ZodPrefault<typeof e2bSchema> {
  return e2bSchema.prefault({});
}

/** The keys of `images`. */
export function imagesSection(): z.ZodPrefault<typeof schema> {
  return schema.prefault({});
}

export function toImages(
  keys: z.output<typeof schema>,
  { templates: named }: z.output<typeof e2bSchema>,
): Pick<Config, "images" | "allowedImages" | "sessionBaseImage" | "toolsImages" | "templates"> {
  const { session_base: sessionBaseImage, allow, ...images } = keys;
  const { session } = images;
  const toolsImages = toolsImagesOf(session);
  return { images, allowedImages: allow, sessionBaseImage, toolsImages, templates: toTemplates(named, toolsImages) };
}

/** Those that E2B's SDKs take by default, with the images of the configuration or of ours, and the deployment's own. */
function toTemplates(named: Readonly<Record<string, string>>, built: ToolsImages): readonly ConfiguredTemplate[] {
  const usual = usualTemplates.map(({ name, recipe, keepsVariables }) => {
    const image = Object.hasOwn(named, name) ? named[name] : undefined;
    return { name, image: image ?? built[recipe], isUsual: true, keepsVariables, isBuilt: image === undefined };
  });
  const own = Object.entries(named)
    .filter(([name]) => usualTemplates.every((each) => each.name !== name))
    .map(([name, image]) => ({ name, image, isUsual: false, keepsVariables: true, isBuilt: false }));
  return [...usual, ...own];
}
