import nodePath from "node:path";
import { findBlocked } from "./blocked-pattern.ts";
import { protectedBy, rootOf, type MountPolicy, type MountUse } from "./mount-policy.ts";
import { refusal, type MountVerdict } from "./mount-verdict.ts";

/** The refusal of a path that is below no root; `path` is what is known of it, real where it exists. */
export function outsideRoots(policy: MountPolicy, path: string, use: MountUse): MountVerdict {
  const never = neverAllowed(policy, path);
  const whatWouldAllow =
    never === null ? wayIn(policy, use) : `Nothing: it would be refused below any root (${never}).`;
  if (use === "additional" && !policy.hasAllowlist) {
    return refusal("no-allowlist", "There is no mount allowlist, hence no additional mounts.", whatWouldAllow);
  }
  return refusal("outside-roots", explanation(policy, path, use), whatWouldAllow, { advice: adviceOn(policy, use) });
}

/** What refuses the path wherever roots are. */
function neverAllowed(policy: MountPolicy, path: string): string | null {
  if (path === nodePath.parse(path).root) return "whole-file-system";
  if (protectedBy(policy, path) !== undefined) return "protected-place";
  const blocked = findBlocked(path, policy.blockedPatterns);
  return blocked === null ? null : `blocked-pattern ${blocked.pattern.source}`;
}

function explanation(policy: MountPolicy, path: string, use: MountUse): string {
  const { roots, within } = policy;
  if (within !== undefined) return "It is outside the folders that this API key may use.";
  if (use === "additional") {
    const isProject = rootOf(policy, path, "project") !== undefined;
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
