import path from "node:path";
import { findBlocked, type BlockedComponent } from "./blocked-pattern.ts";
import {
  protectedBy,
  rootOf,
  isWithin,
  type MountPolicy,
  type MountUse,
  type MountRoot,
  type ProtectedPlace,
} from "./mount-policy.ts";
import { refusal, type MountVerdict, type FoundPlace, type MountRequest, type MountRule } from "./mount-verdict.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { checkRelativePath } from "../request/request-paths.ts";

/** The refusal of a path that is below no root; `knownPath` is what is known of it, real where it exists. */
export function outsideRoots(policy: MountPolicy, knownPath: string, use: MountUse): MountVerdict {
  const never = neverAllowed(policy, knownPath);
  const whatWouldAllow =
    never === null ? wayIn(policy, use) : `Nothing: it would be refused below any root (${never}).`;
  if (use === "additional" && !policy.hasAllowlist) {
    return refusal("no-allowlist", "There is no mount allowlist, hence no additional mounts.", whatWouldAllow);
  }
  return refusal("outside-roots", explanation(policy, knownPath, use), whatWouldAllow, {
    advice: adviceOn(policy, use),
  });
}

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

/** What refuses the path wherever roots are. */
function neverAllowed(policy: MountPolicy, givenPath: string): string | null {
  if (givenPath === path.parse(givenPath).root) return "whole-file-system";
  if (protectedBy(policy, givenPath) !== undefined) return "protected-place";
  const blocked = findBlocked(givenPath, policy.blockedPatterns);
  return blocked === null ? null : `blocked-pattern ${blocked.pattern.source}`;
}

function explanation(policy: MountPolicy, knownPath: string, use: MountUse): string {
  const { roots, within } = policy;
  if (within !== undefined) return "It is outside the folders that this API key may use.";
  if (use === "additional") {
    const isProject = rootOf(policy, knownPath, "project") !== undefined;
    const but = isProject ? " (it is below a folder for projects, which is not enough for an additional mount)" : "";
    return `It is below no allowedRoots of the mount allowlist${but}.`;
  }
  if (roots.length === 0) return "No folder of this machine may be used: none is listed.";
  return roots.every((root) => root.source === "working_directory")
    ? "It is outside the working directory."
    : "It is outside the folders that may be used.";
}

/** What a client may do; nothing in it depends on the path. */
function adviceOn(policy: MountPolicy, use: MountUse): string {
  const startsAnywhere =
    policy.within === undefined && policy.roots.some(({ source }) => source === "working_directory");
  const start = startsAnywhere && use === "project" ? ", start from a folder above it" : "";
  return `Copy it below a folder that may be used${start}, or have its folder listed: ${settingsFor(policy, use)} (\`glovebox mounts list\` shows the folders in force).`;
}

function wayIn(policy: MountPolicy, use: MountUse): string {
  return `Its folder being listed: ${settingsFor(policy, use)}.`;
}

/** The settings that would have to list the folder. */
function settingsFor({ within, hasAllowlist, projectsSetting }: MountPolicy, use: MountUse): string {
  const allowlist = `allowedRoots of ${hasAllowlist ? "the" : "a"} mount allowlist`;
  const ofDeployment = use === "additional" ? allowlist : `${projectsSetting}, or ${allowlist}`;
  if (within === undefined) return ofDeployment;
  return `mount_roots of this API key in the keys file (\`glovebox keys add --mount-roots\`), and for the server ${ofDeployment}`;
}
