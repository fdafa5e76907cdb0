import { z } from "zod";
import { issueWords } from "../operations/contract/parse-request.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { hostPath, limitNumber, wholeNumber } from "../config/leaf-schemas.ts";
import { checkGrantedImage, checkGrantedNetworks } from "../policy/grants.ts";
import { keyIdForm } from "../policy/principal.ts";
import { createHash } from "node:crypto";
import { createId } from "../base/id.ts";

const names = z.array(z.string().min(1).max(256)).max(256);

/**
 * One key in the file. A missing right defaults to the deployment's, except secrets and mount roots, which default to
 * none.
 */
const keyRecord = z.strictObject({
  id: z.string().regex(keyIdForm, "an id of 12 letters and digits").describe("Public part of the key."),
  name: z.string().min(1).max(64).describe("Whose key it is, or for what; for people."),
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, "sha256: and 64 hexadecimal digits")
    .describe("SHA-256 of the whole key."),
  created_at: z.iso.datetime().describe("RFC 3339."),
  expires_at: z.iso.datetime().optional().describe("From then on it opens nothing; left out: never."),
  sandboxes: wholeNumber("sandboxes", 1, 10_000).optional().describe("Sandboxes at once."),
  requests_per_minute: wholeNumber("requests", 1, 1_000_000).optional().describe("Requests a minute."),
  max_cpus: limitNumber("cpus").optional().describe("Ceiling of limits.cpus."),
  max_memory_mb: limitNumber("memory_mb").optional().describe("Ceiling of limits.memory_mb."),
  max_timeout_seconds: limitNumber("timeout_seconds").optional().describe("Ceiling of limits.timeout_seconds."),
  max_pids: limitNumber("pids").optional().describe("Ceiling of limits.pids."),
  max_disk_mb: limitNumber("disk_mb").optional().describe("Ceiling of limits.disk_mb."),
  engines: names.min(1).optional().describe("Engines."),
  network: names.refine(areNetworks, "none, registries, open and domains").optional().describe("What of `network`."),
  images: names
    .refine(areImages, "images, and registries as HOST[:PORT]/*")
    .optional()
    .describe("Images and registries."),
  secrets: names.optional().describe("Names of secrets, or * for all; left out: none."),
  mount_roots: z
    .array(z.union([hostPath(), z.literal("*")]))
    .max(256)
    .optional()
    .describe("Folders for host paths, or * for all of the deployment's; left out: none."),
});

const keysFile = z.strictObject({ keys: z.array(keyRecord).max(1000) });

export type KeyRecord = z.output<typeof keyRecord>;

/** The records in a keys file's text. @throws INVALID_REQUEST naming what is wrong, and where */
export function parseKeysFile(text: string): readonly KeyRecord[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw bad(`it is not JSON (${(error as Error).message.slice(0, 120)})`);
  }
  const parsed = keysFile.safeParse(json, { error: issueWords });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw bad(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "it is not valid"}`);
  }
  const { keys } = parsed.data;
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) !== index);
  if (twice !== undefined) throw bad(`the id ${twice.id} stands there twice`);
  return keys;
}

/** One record built from options, whose names come from `nameOf`. @throws INVALID_REQUEST */
export function checkKeyRecord(record: unknown, nameOf: (field: string) => string): KeyRecord {
  const parsed = keyRecord.safeParse(record);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = nameOf(String(issue?.path[0] ?? ""));
  throw new GloveboxError("INVALID_REQUEST", `${field}: expected ${issue?.message ?? "another value"}.`, {
    context: { field },
  });
}

/** A key as its owner has it, and the two parts that are stored. */
export interface NewKey {
  /** `gbx_ID_SECRET`; shown once. */
  readonly text: string;
  readonly id: string;
  /** Of the whole text. */
  readonly digest: Uint8Array;
}

/** A prefix by which people and secret scanners recognise it; then the id, then 256 bits. */
const form = /^gbx_([0-9a-z]{12})_[\w-]{43}$/;

/** A new key; `random` gives n random bytes. */
export function makeKey(random: (count: number) => Uint8Array): NewKey {
  const id = createId("", random).slice(1, 13);
  const text = `gbx_${id}_${Buffer.from(random(32)).toString("base64url")}`;
  return { text, id, digest: digestOf(text) };
}

/** The id in a text that has the form of a key; null for any other text. */
export function idOf(text: string): string | null {
  return form.exec(text)?.[1] ?? null;
}

/**
 * The stored hash of a key. A fast hash is right here: slow ones protect secrets that can be guessed, and 256 random
 * bits cannot; computed for each request, they would be a way to overload the server.
 */
export function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function areNetworks(entries: readonly string[]): boolean {
  return isAccepted(() => checkGrantedNetworks(entries, "network"));
}

function areImages(entries: readonly string[]): boolean {
  return isAccepted(() => entries.forEach((entry) => checkGrantedImage(entry, "images")));
}

function isAccepted(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

function bad(problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The keys file is not valid: ${problem}.`, {
    suggestion: "Correct it, or make keys with `glovebox keys add` (docs/keys.md). Until then no key works.",
  });
}
