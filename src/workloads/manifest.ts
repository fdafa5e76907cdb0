import { z } from "zod";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** The list of what a folder contains, written last: a folder without it is incomplete. */
export const manifestName = "glovebox-prepared.json";
/** Far above any that is written. */
export const maxManifestBytes = 262_144;

const gibibyte = 2 ** 30;
const fileRow = {
  file: z.string().regex(/^[a-z0-9]+(?:[.-][a-z0-9]+)*\.(?:tar|tgz)$/, "expected a plain file name"),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size_bytes: z
    .int()
    .min(1)
    .max(32 * gibibyte),
};

const image = z.strictObject({
  ...fileRow,
  kind: z.literal("image"),
  reference: z.string(),
  engine: z.string(),
  identity: z.string().max(200),
});
const bun = z.strictObject({ ...fileRow, kind: z.literal("bun"), target: z.string(), bun_version: z.string() });

const manifestSchema = z.strictObject({
  version: z.literal(1),
  glovebox: z.string(),
  files: z
    .array(z.discriminatedUnion("kind", [image, bun]))
    .min(1)
    .max(64),
});

export type PreparedManifest = z.output<typeof manifestSchema>;
export type PreparedFile = PreparedManifest["files"][number];
export type PreparedImage = Extract<PreparedFile, { kind: "image" }>;

/** @throws INVALID_REQUEST for anything that no export has written */
export function parseManifest(text: string): PreparedManifest {
  const parsed = manifestSchema.safeParse(jsonOf(text));
  const names = parsed.data?.files.map(({ file }) => file) ?? [];
  if (parsed.success && new Set(names).size === names.length) return parsed.data;
  const [issue] = parsed.error?.issues ?? [];
  const where = issue === undefined ? "two files of one name" : `${issue.path.join(".")}: ${issue.message}`;
  throw unusable(`${manifestName} is not what an export writes (${where}).`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A folder that is not imported. */
export function unusable(problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The folder cannot be imported: ${problem}`, {
    suggestion: "Copy the folder again as `glovebox prepare --export` has written it, with all of its files.",
    context: { field: "folder" },
  });
}
