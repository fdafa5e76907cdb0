import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EngineName } from "./engine.ts";
import { labels } from "./labels.ts";

/** An image that is not there, or could not be fetched or made; `reason` completes "is not available: ...". */
export function imageUnavailable(reference: string, reason: string, cause?: unknown): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `Image ${reference} is not available: ${reason}.`, {
    context: { image: reference, reason },
    cause,
  });
}

const ownLabels: readonly string[] = Object.values(labels);

/** Refuses an image that Glovebox prepared for a project, a package set or an environment (SPEC IM4). @throws POLICY_DENIED */
export function assertNotPrepared(reference: string, own: Readonly<Record<string, string>>): void {
  if (!isPreparedImage(own)) return;
  throw new GloveboxError(
    "POLICY_DENIED",
    `Image ${reference} was prepared by Glovebox for a project or an environment, so nothing can name it.`,
    {
      suggestion: "Name the image that it was based on; what was prepared from that is found by itself.",
      context: { field: "image", image: reference, rule: "prepared-images" },
    },
  );
}

/** Refuses a pull without credentials from an engine that always uses its own. */
export function noAnonymousPull(reference: string, engine: EngineName): GloveboxError {
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `Image ${reference} is not present, and a project's files chose it: engine ${engine} would use this machine's registry credentials to pull it.`,
    {
      suggestion: `Name it in the request (image), list it in images.allow, or pull it first: glovebox images pull ${reference}.`,
      context: { field: "image", image: reference, engine },
    },
  );
}

/** Longest text of a failure that is looked at. */
const maxChars = 4_096;

/** Each reason that a pull may fail for, and the engine's words that mean it; the first that matches counts. */
const reasons: readonly (readonly [string, RegExp])[] = [
  [
    "its registry has it for other processors only",
    /no matching manifest|no image found in (?:image index|manifest list)/i,
  ],
  ["its registry takes no more requests for now", /toomanyrequests|too many requests|rate limit/i],
  [
    "the engine does not trust its registry (certificate, or HTTP without TLS)",
    /x509|certificate|server gave HTTP response to HTTPS client|tls: /i,
  ],
  ["the engine's disk is full", /no space left|disk quota/i],
  ["its registry did not answer in time", /timeout|timed out|deadline exceeded/i],
  [
    "its registry cannot be reached",
    /no such host|connection refused|unreachable|no route to host|server misbehaving|connection reset|dial tcp|unexpected EOF|could not connect/i,
  ],
  [
    "it was not found in its registry, which may hide it from callers without credentials",
    /manifest unknown|name unknown|unknown manifest|not found|\b404\b|does not exist|no such image|\bunknown: /i,
  ],
  ["its registry denies access", /unauthorized|denied|forbidden|\b40[13]\b|authentication required|no basic auth/i],
];
const otherReason = "the engine could not pull it";

/**
 * Why a pull failed, as one of a fixed set: a registry writes what it likes into its answers, and engines repeat it.
 * Pure.
 */
export function pullReason(words: string): string {
  const start = words.slice(0, maxChars);
  return reasons.find(([, pattern]) => pattern.test(start))?.[0] ?? otherReason;
}

/** A pull that failed; the engine's words are only its cause, for the operator. */
export function pullFailed(reference: string, words: string): GloveboxError {
  return imageUnavailable(reference, pullReason(words), new Error(words.slice(0, maxChars)));
}

/**
 * Whether Glovebox made an image from a container, or somebody made it from such an image: it holds what belongs to one
 * project or one principal. Labels stay with an image under any name and are handed down to those based on it.
 */
function isPreparedImage(own: Readonly<Record<string, string>>): boolean {
  return ownLabels.some((label) => Object.hasOwn(own, label));
}
