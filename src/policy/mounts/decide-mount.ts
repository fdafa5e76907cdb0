import path from "node:path";
import { findBlocked, type BlockedComponent } from "./blocked-pattern.ts";
import {
  isWithin,
  protectedBy,
  rootOf,
  type MountPolicy,
  type MountRoot,
  type ProtectedPlace,
} from "./mount-policy.ts";
import { refusal, type FoundPlace, type MountRequest, type MountRule, type MountVerdict } from "./mount-verdict.ts";
import { outsideRoots } from "./outside-roots.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { checkRelativePath } from "../request/relative-path.ts";

/**
 * Whether a place on this machine's disk may be handed to a sandbox, and how (SPEC MO5, MO6).
 *
 * What lies below no root is refused before anything else is looked at, so that the answer tells nothing about it.
 * Writing that is not allowed makes it read-only; everything else that is not allowed makes it refused.
 */
export function decideMount(policy: MountPolicy, place: FoundPlace, request: MountRequest): MountVerdict {
  const { realPath, kind } = place;
  const root = rootOf(policy, realPath, request.use);
  if (root === undefined) return outsideRoots(policy, realPath, request.use);
  if (realPath === path.parse(realPath).root) return wholeFileSystem(root);
  const protectedPlace = protectedBy(policy, realPath);
  if (protectedPlace !== undefined) return holdsOrIs(protectedPlace, root, realPath);
  const blocked =
    findBlocked(realPath, policy.blockedPatterns) ?? findBlocked(request.givenPath, policy.blockedPatterns);
  if (blocked !== null) return blockedBy(blocked, root);
  if (kind === "other") {
    return refusal(
      "not-a-file-or-folder",
      "It is neither a file nor a folder: sockets, devices and pipes stay on the host.",
      "Nothing: only regular files and folders are handed to sandboxes.",
      { root },
    );
  }
  const target = request.use === "additional" ? mountTarget(request.target, request.givenPath) : { target: null };
  if ("problem" in target) {
    return refusal("bad-target", target.problem, "A relative path as the target, such as data or data/input.", {
      root,
    });
  }
  return { ...accessOf(policy, root, request), allowed: true, root, target: target.target, pattern: null };
}

type Access = Pick<MountVerdict, "readOnly" | "rule" | "explanation" | "whatWouldAllow">;

const ruleOfSource: Readonly<Record<MountRoot["source"], MountRule>> = {
  allowlist: "allowed-root",
  project_roots: "project-root",
  working_directory: "working-directory",
};

function accessOf(policy: MountPolicy, root: MountRoot, { access, use, isMain }: MountRequest): Access {
  const rule = ruleOfSource[root.source];
  const below = root.source === "working_directory" ? "the working directory" : root.listedAs;
  if (access === "read-only") {
    return { readOnly: true, rule, explanation: `It lies below ${below}.`, whatWouldAllow: null };
  }
  if (!root.allowReadWrite) {
    return {
      readOnly: true,
      rule: "read-only-root",
      explanation: `It lies below ${below}, which is read-only.`,
      whatWouldAllow: `Writing needs "allowReadWrite": true at ${below} of the mount allowlist.`,
    };
  }
  if (use === "additional" && policy.nonMainReadOnly && !isMain) {
    return {
      readOnly: true,
      rule: "non-main-read-only",
      explanation: `It lies below ${below}; only the main group may write to additional mounts.`,
      whatWouldAllow: 'Writing needs the main group, or "nonMainReadOnly": false in the mount allowlist.',
    };
  }
  return { readOnly: false, rule, explanation: `It lies below ${below}, which may be written.`, whatWouldAllow: null };
}

function wholeFileSystem(root: MountRoot): MountVerdict {
  return refusal(
    "whole-file-system",
    "It is the root of the file system.",
    "Nothing: name the folder that is needed.",
    { root },
  );
}

function holdsOrIs({ path: kept, what }: ProtectedPlace, root: MountRoot, realPath: string): MountVerdict {
  const holds = kept !== realPath && isWithin(kept, realPath);
  return refusal(
    "protected-place",
    holds ? `The folder holds ${what}, which no sandbox may see.` : `It belongs to ${what}, which no sandbox may see.`,
    holds ? "A folder inside it that does not hold that." : "Nothing: copy what is needed to another folder.",
    { root },
  );
}

function blockedBy({ pattern, component }: BlockedComponent, root: MountRoot): MountVerdict {
  const { source, what } = pattern;
  const shown = `${JSON.stringify(component)} in its path matches the blocked pattern ${JSON.stringify(source)}`;
  return refusal(
    "blocked-pattern",
    what === null ? `${shown} of the mount allowlist.` : `${shown} (${what}).`,
    what === null
      ? "The operator taking the pattern out of blockedPatterns of the mount allowlist."
      : "Nothing: built-in patterns always count. Copy what holds no secret to another name.",
    { root, pattern: source },
  );
}

/** Folder of a sandbox below which additional mounts stand. */
const additionalMountsFolder = "/workspace/extra";

/** The path of an additional mount in its sandbox, or why there is none. */
type MountTarget = { readonly target: string } | { readonly problem: string };

/** The place below `/workspace/extra`: the relative path that is asked for, else the name of what is mounted. */
function mountTarget(requested: string | undefined, givenPath: string): MountTarget {
  const wanted = (requested ?? path.basename(givenPath)).replace(/(?<=[^/])\/+$/, "");
  try {
    return { target: `${additionalMountsFolder}/${checkRelativePath(wanted, "target")}` };
  } catch (error) {
    if (error instanceof GloveboxError) return { problem: error.message };
    throw error;
  }
}
