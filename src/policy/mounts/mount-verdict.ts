import type { MountRoot, MountUse } from "./mount-policy.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";

/** Kind of thing at a path; devices, sockets and pipes are `other`. */
export type PlaceKind = "folder" | "file" | "other";

type MountAccess = "read-only" | "read-write";

/** A host path that somebody asks for. */
export interface MountRequest {
  /** Absolute and normal, links not followed. */
  readonly givenPath: string;
  readonly use: MountUse;
  readonly access: MountAccess;
  /** Whether it is for the main group, which alone may write where `nonMainReadOnly` holds. */
  readonly isMain: boolean;
  /** Relative path below `/workspace/extra`, for an additional mount; default: the name of what is mounted. */
  readonly target?: string | undefined;
}

/** What is at the path, once all links are followed. */
export interface FoundPlace {
  readonly realPath: string;
  readonly kind: PlaceKind;
}

/** Names of the rules that decide; docs/mounts.md explains each. */
export const mountRules = [
  "allowed-root",
  "project-root",
  "working-directory",
  "read-only-root",
  "non-main-read-only",
  "missing",
  "unreadable",
  "changed",
  "whole-file-system",
  "no-allowlist",
  "outside-roots",
  "protected-place",
  "blocked-pattern",
  "not-a-file-or-folder",
  "bad-target",
] as const;
export type MountRule = (typeof mountRules)[number];

/** What the gate says about a host path, and why; no text in it names a path of the host that the caller did not. */
export interface MountVerdict {
  readonly allowed: boolean;
  /** Read-write only when that was asked for and is allowed; true when refused. */
  readonly readOnly: boolean;
  readonly rule: MountRule;
  /** The root that decided, null where none did. */
  readonly root: MountRoot | null;
  /** Absolute path in the sandbox, for an additional mount that is allowed. */
  readonly target: string | null;
  /** The blocked pattern that refused it. */
  readonly pattern: string | null;
  /** A sentence. */
  readonly explanation: string;
  /** A sentence on what would allow what was asked; null where it is allowed as asked. */
  readonly whatWouldAllow: string | null;
  /** What the client may do instead; the same words for every path outside the roots, whatever is there. */
  readonly advice?: string | undefined;
}

/** A verdict that refuses. */
export function refusal(
  rule: MountRule,
  explanation: string,
  whatWouldAllow: string,
  details: Partial<Pick<MountVerdict, "root" | "pattern" | "advice">> = {},
): MountVerdict {
  return {
    allowed: false,
    readOnly: true,
    rule,
    root: null,
    target: null,
    pattern: null,
    explanation,
    whatWouldAllow,
    ...details,
  };
}

/** Rules that refuse a wrong request; every other refusal is the policy's. */
const wrongRequest: ReadonlySet<MountRule> = new Set<MountRule>([
  "missing",
  "unreadable",
  "outside-roots",
  "not-a-file-or-folder",
  "bad-target",
]);

/** A host path that the gate refused, as the error for the client who named it: no other path of the host is in it. */
export function mountRefused(verdict: MountVerdict, field: string, given: string): GloveboxError {
  const { rule, explanation, pattern, advice, whatWouldAllow } = verdict;
  const errorType: ErrorType = wrongRequest.has(rule) ? "INVALID_REQUEST" : "POLICY_DENIED";
  const shown = JSON.stringify(given.slice(0, 200));
  return new GloveboxError(errorType, `${field}: ${shown} is refused by the rule ${rule}. ${explanation}`, {
    suggestion: advice ?? `What would allow it: ${whatWouldAllow ?? "nothing."}`,
    context: { field, rule, ...(pattern === null ? {} : { pattern }) },
  });
}
