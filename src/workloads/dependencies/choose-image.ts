import { checkImageReference, type ImageOrigin } from "../../policy/image-reference.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { parse, type ParseError } from "jsonc-parser";
import { kibibyte } from "../../base/bytes.ts";
import { errorCode, GloveboxError } from "../../errors/glovebox-error.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import { readPlainFile } from "./read-plain-file.ts";

export interface ImageQuestion {
  /** The request's image; undefined: depends on the project. */
  readonly image: string | undefined;
  readonly project: Pick<OpenPlace, "stablePath">;
  /** The default image for the project's command, lockfile and language. */
  readonly defaultImage: string;
  /** Whether the engine uses images; if not, the project's own is ignored. */
  readonly hasImages: boolean;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Has the image there. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
}

/**
 * The image for a project, which is there then (SPEC TE4).
 * @throws INVALID_REQUEST for a bad description of a devcontainer, what `provideImage` throws
 */
export async function chooseImage({ provideImage, ...question }: ImageQuestion): Promise<string> {
  const { image, origin } = await imageFor(question);
  await provideImage(image, origin);
  return image;
}

async function imageFor(
  question: Omit<ImageQuestion, "provideImage">,
): Promise<{ readonly image: string; readonly origin: ImageOrigin }> {
  const { image, project, defaultImage, hasImages, platform } = question;
  if (image !== undefined) return { image, origin: "request" };
  const own = hasImages ? await devcontainerImage(project, platform) : null;
  return own === null ? { image: defaultImage, origin: "configured" } : { image: own, origin: "project" };
}

/** Where a project may have its description; the first that exists counts. */
const places = [".devcontainer/devcontainer.json", ".devcontainer.json"] as const;
const maxBytes = 64 * kibibyte;

/**
 * The `image` of a project's devcontainer, of which nothing else is read (SPEC TE4); null if there is none, as in one
 * that names a Dockerfile. No link is followed.
 * @throws INVALID_REQUEST for a file that is not such a description, whose image is not a reference, or that exceeds 64
 * KiB
 */
export async function devcontainerImage(
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<string | null> {
  await using folder = await HostFolder.of(project, platform);
  for (const place of places) {
    const text = await readText(folder, place);
    if (text !== null) return imageOf(text, place);
  }
  return null;
}

async function readText(root: HostFolder, place: string): Promise<string | null> {
  const [first = "", second] = place.split("/");
  try {
    if (second === undefined) return await readFileText(root, first, place);
    await using folder = await root.enter(first);
    return await readFileText(folder, second, place);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    return onHost(place, Promise.reject(error as Error));
  }
}

async function readFileText(folder: HostFolder, name: string, place: string): Promise<string> {
  const read = await readPlainFile(folder, name, maxBytes);
  if (read === "other") throw invalid(place, "is no plain file");
  if (read === "large") throw invalid(place, `has more than ${maxBytes / kibibyte} KiB`);
  return read.text;
}

/** Pure. @throws INVALID_REQUEST */
export function imageOf(text: string, place: string): string | null {
  const value = parseDescription(text, place);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(place, "holds no JSON object");
  const image = Object.hasOwn(value, "image") ? (value as { readonly image: unknown }).image : undefined;
  if (image === undefined) return null;
  if (typeof image !== "string") throw invalid(place, 'has an "image" that is no string');
  return checkImageReference(image, `image of ${place}`);
}

function parseDescription(text: string, place: string): unknown {
  const errors: ParseError[] = [];
  try {
    // The parser does not accept byte order marks.
    const value: unknown = parse(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true });
    if (errors.length === 0) return value;
  } catch {
    // Brackets nested deeper than the parser supports.
  }
  const line = text.slice(0, errors[0]?.offset ?? 0).split("\n").length;
  throw invalid(place, `is no JSON with comments (line ${line})`);
}

function invalid(place: string, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${place} of the project ${problem}.`, {
    suggestion: 'Correct it, such as { "image": "python:3.12-slim" }, or name the image in the request.',
    context: { field: "project_path", file: place },
  });
}
