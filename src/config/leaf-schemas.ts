import { isAbsolute } from "node:path";
import * as z from "zod";
import { maxDurationMs, parseDuration } from "../base/duration.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { packagePattern } from "../policy/install-policy.ts";
import { isPrincipal, principalWords } from "../policy/principal.ts";
import { environmentName } from "../policy/request/environment-variables.ts";
import { checkGrantedImage } from "../policy/grants.ts";
import { checkImageReference } from "../policy/image-reference.ts";
import { checkRelativePath } from "../policy/request/request-paths.ts";
import { expectedLimit, limitFields, type LimitField } from "../policy/limits.ts";

/** The message of every schema here is a phrase that follows "expected". */
export function wholeNumber(unit: string, from: number, to: number): z.ZodNumber {
  const words = `a whole number of ${unit} from ${from} to ${to}`;
  return z.number(words).int(words).min(from, words).max(to, words);
}

/** Who may use something: each must be a principal that a request can have, or it would match nobody. */
export function principalList(): z.ZodArray<z.ZodString> {
  const words = `a list, each ${principalWords}`;
  return z.array(z.string(words).refine(isPrincipal, words), words).max(1_024, "at most 1024 principals");
}

export function choice<const Choice extends string>(choices: readonly Choice[]): z.ZodEnum<{ [Name in Choice]: Name }> {
  return z.enum(choices, `one of ${choices.join(", ")}`);
}

/** One limit in the wire's unit, without any ceiling. */
export function limitNumber(field: LimitField): z.ZodNumber {
  const { minimum, maximum, whole } = limitFields[field];
  const words = expectedLimit(field);
  const number = z.number(words).min(minimum, words).max(maximum, words);
  return whole ? number.int(words) : number;
}

/** A duration as text (`"30s"`) or as a number of seconds; its value is milliseconds. */
export function duration(): z.ZodType<number, string> {
  const words = `a duration such as "500ms", "30s" or "2m", at most ${Math.floor(maxDurationMs / 86_400_000)} days`;
  return z.union([z.string(), z.number()], words).transform((value, context) => {
    const milliseconds = unlessRefused(() => parseDuration(String(value), "duration"));
    if (milliseconds !== null) return milliseconds;
    context.issues.push({ code: "custom", message: words, input: value });
    return z.NEVER;
  }) as z.ZodType<number, string>;
}

export function imageReference(): z.ZodString {
  const words = "an image reference such as python:3.12-slim";
  return z.string(words).refine((text) => unlessRefused(() => checkImageReference(text)) !== null, words);
}

/** Images, and whole registries. */
export function allowedImages(): z.ZodArray<z.ZodString> {
  const words = "a list of at most 256 images such as python:3.13, or registries such as registry.example:5000/*";
  const isEntry = (text: string): boolean => unlessRefused(() => (checkGrantedImage(text, "image"), true)) !== null;
  return z.array(z.string(words).refine(isEntry, words), words).max(256, words);
}

/** A path of this machine that does not depend on where the process starts. */
export function hostPath(): z.ZodString {
  const words = "an absolute path, or one that begins with ~/";
  return z.string(words).refine((path) => isAbsolute(path) || path === "~" || /^~[\\/]/.test(path), words);
}

/** A path within a project. */
export function relativePath(): z.ZodString {
  const words = "a relative path such as tools/hooks";
  return z
    .string(words)
    .refine((path) => unlessRefused(() => checkRelativePath(path, "path") === path) === true, words);
}

/** Names of packages, in which `*` matches anything. */
export function packagePatterns(): z.ZodArray<z.ZodString> {
  const words = "a list of at most 1024 names of packages such as lodash, @scope/* or python:numpy";
  return z.array(z.string(words).regex(packagePattern, words), words).max(1024, words);
}

/** Web origins as browsers send them; `null` and wildcards are refused, as they identify no page. */
export function origins(): z.ZodArray<z.ZodString> {
  const words = "a list of origins such as https://app.example or http://localhost:5173, without a path";
  return z.array(z.string(words).refine(isOrigin, words), words).max(64, words);
}

function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]_-]+$/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && (url.origin === text || url.origin === "null");
}

/** Names of a server, as in a request's `Host` header. */
export function hostNames(): z.ZodArray<z.ZodString> {
  const words = "a list of names in lower case such as glovebox.example, without ports";
  return z.array(z.string(words).regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, words), words).max(64, words);
}

export function variableNames(): z.ZodArray<z.ZodString> {
  const words = "a list of names of environment variables, such as API_URL";
  return z.array(z.string(words).regex(environmentName, words), words).max(256, words);
}

/** What a check returns, null if it refuses; any other error is rethrown. */
function unlessRefused<T>(check: () => T): T | null {
  try {
    return check();
  } catch (error) {
    if (error instanceof GloveboxError) return null;
    throw error;
  }
}
