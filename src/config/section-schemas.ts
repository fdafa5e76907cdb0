import { languageTable, type LanguageName } from "../languages/language-table.ts";
import * as z from "zod";
import { defaultSessionImage } from "../policy/profile.ts";
import { toolsImagesOf, type ToolsImages } from "../engines/tools-image.ts";
import { warmPoolModes, type Config, type ConfiguredTemplate } from "./config.ts";
import { allowedImages, imageReference, choice, hostPath, wholeNumber, duration } from "./leaf-schemas.ts";
import { mebibyte } from "../base/bytes.ts";

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

type PreviewShape = {
  domain: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  backend: z.ZodDefault<z.ZodNullable<z.ZodString>>;
};

/** The section `preview`. */
export function previewSection(): z.ZodPrefault<z.ZodObject<PreviewShape, z.core.$strict>> {
  const domainWords = "a domain such as preview.example or https://preview.example, whose every subdomain leads here";
  const backendWords = "an origin such as http://127.0.0.1:3001, without a path";
  return z
    .strictObject(
      {
        domain: z
          .string(domainWords)
          .refine((text) => readDomain(text) !== null, domainWords)
          .nullable()
          .default(null)
          .describe(
            "Domain under which each preview gets its own name beyond loopback, prefixed with `https://` if something in front of this server terminates TLS; unset: previews can be reached from the server's machine only.",
          ),
        backend: z
          .string(backendWords)
          .refine(isHttpOrigin, backendWords)
          .nullable()
          .default(null)
          .describe("Origin that receives previews' requests under `/api`; unset: they are refused."),
      },
      "an object",
    )
    .prefault({});
}

export function toPreview({ domain, backend }: z.output<z.ZodObject<PreviewShape>>): Config["preview"] {
  return { domain: domain === null ? null : readDomain(domain), backend };
}

/** Of a name of hosts, below which ours have labels of their own. */
const maxNameChars = 200;
/** With its scheme and port. */
const maxDomainChars = maxNameChars + "https://:65535".length;

/** `[scheme://]name[:port]`; the name has at least two labels, the last of which is not a number; null for other texts. */
export function readDomain(text: string): Config["preview"]["domain"] {
  if (text.length > maxDomainChars) return null;
  const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  const form = new RegExp(`^(?:(https?)://)?((?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\\d{1,5}))?$`);
  const [, scheme = "http", name, port] = form.exec(text) ?? [];
  if (name === undefined || name.length > maxNameChars || Number(port ?? 1) > 65_535 || name.endsWith(".localhost"))
    return null;
  return { scheme: scheme === "https" ? "https" : "http", name, port: port === undefined ? null : Number(port) };
}

/** Whether there is a store, and in what; `auto`: a SQLite file for `glovebox serve`, none elsewhere. */
const storeKinds = ["auto", "off", "sqlite", "postgres"] as const;

type StoreShape = {
  kind: z.ZodDefault<ReturnType<typeof choice<(typeof storeKinds)[number]>>>;
  file: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  url: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  max_age_days: z.ZodDefault<z.ZodNumber>;
  max_mb: z.ZodDefault<z.ZodNumber>;
};

type LogsShape = { redis_url: z.ZodDefault<z.ZodNullable<z.ZodString>> };

const dayMs = 86_400_000;

/** The section `store`. */
export function storeSection(): z.ZodPrefault<z.ZodObject<StoreShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        kind: choice(storeKinds)
          .default("auto")
          .describe(
            "Where runs, logs, metrics and alerts are kept: `sqlite`, `postgres`, or `off`; `auto` is `sqlite` for `glovebox serve` and `off` elsewhere.",
          ),
        file: hostPath()
          .nullable()
          .default(null)
          .describe("File of the SQLite store; unset: `store.db` in the state folder."),
        url: url(["postgres:", "postgresql:"])
          .nullable()
          .default(null)
          .describe(
            "URL of the PostgreSQL store, never shown; if it has no password, `PGPASSWORD` or `~/.pgpass` is used.",
          ),
        max_age_days: wholeNumber("days", 1, 3_650).default(30).describe("Days after which stored data is removed."),
        max_mb: wholeNumber("MB", 1, 1_048_576)
          .default(1_024)
          .describe("Maximum MB (MiB) of stored log entries; beyond it whoever has most loses the oldest."),
      },
      "an object",
    )
    .prefault({});
}

/** The section `logs`. */
export function logsSection(): z.ZodPrefault<z.ZodObject<LogsShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        redis_url: url(["redis:", "rediss:"])
          .nullable()
          .default(null)
          .describe("URL of a Redis server that log entries are published to, never shown; unset: none."),
      },
      "an object",
    )
    .prefault({});
}

export function toStore(keys: z.output<ReturnType<typeof storeSection>>): Config["store"] {
  const { kind, file, url: place, max_age_days: days, max_mb: megabytes } = keys;
  return { kind, file, url: place, maxAgeMs: days * dayMs, maxBytes: megabytes * mebibyte };
}

type WarmPoolShape = {
  mode: z.ZodDefault<ReturnType<typeof choice<(typeof warmPoolModes)[number]>>>;
  min: z.ZodDefault<z.ZodNullable<z.ZodNumber>>;
  max: z.ZodDefault<z.ZodNumber>;
  idle_timeout: z.ZodPrefault<ReturnType<typeof duration>>;
  max_age: z.ZodPrefault<ReturnType<typeof duration>>;
  min_free_mb: z.ZodDefault<z.ZodNumber>;
};

/** The section `warm_pool`. */
export function warmPoolSection(): z.ZodPrefault<z.ZodObject<WarmPoolShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        mode: choice(warmPoolModes)
          .default("auto")
          .describe(
            "Whether sandboxes are kept ready for one-shot runs, with the interpreter started: `on` or `off`; `auto` is `on` for `glovebox serve` and `glovebox mcp`, and `off` in the library. Commands such as `glovebox run` never have any.",
          ),
        min: wholeNumber("sandboxes", 0, 1_000)
          .nullable()
          .default(null)
          .describe(
            "Minimum number of ready sandboxes of each kind that was ever requested; unset: 1 for a server, 0 over stdio and in the library.",
          ),
        max: wholeNumber("sandboxes", 0, 1_000)
          .default(8)
          .describe("Maximum number of ready sandboxes of all kinds together; they count towards `max_containers`."),
        idle_timeout: duration()
          .prefault("5m")
          .describe("After this long without a run of a kind, only `min` sandboxes of that kind are kept."),
        max_age: duration().prefault("30m").describe("A ready sandbox is replaced after this long."),
        min_free_mb: wholeNumber("MB", 0, mebibyte)
          .default(512)
          .describe("No ready sandbox is created while this machine has less available memory than this, in MB (MiB)."),
      },
      "an object",
    )
    .prefault({});
}

export function toWarmPool(keys: z.output<z.ZodObject<WarmPoolShape>>): Config["warmPool"] {
  return {
    mode: keys.mode,
    min: keys.min,
    max: keys.max,
    idleMs: keys.idle_timeout,
    maxAgeMs: keys.max_age,
    minFreeBytes: keys.min_free_mb * mebibyte,
  };
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

function isHttpOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}

function url(protocols: readonly string[]): z.ZodString {
  const words = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`;
  return z.string(words).refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), words);
}
