import { GloveboxError } from "../../../../errors/glovebox-error.ts";

/** Settings of the kernel that may forbid user namespaces; null where a kernel does not have the setting. */
export interface NamespaceSettings {
  /** /proc/sys/kernel/unprivileged_userns_clone */
  readonly unprivilegedClone: string | null;
  /** /proc/sys/user/max_user_namespaces */
  readonly maxUserNamespaces: string | null;
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns */
  readonly apparmorRestricts: string | null;
}

const otherEngine = "or use Docker or Podman instead";

/** The error for a host that does not let us make namespaces; `said` is what the kernel or the tools answered. */
export function namespacesUnavailable(said: string, settings: NamespaceSettings): GloveboxError {
  const [reason, fix] = explain(said, settings);
  return new GloveboxError("ENGINE_UNAVAILABLE", `The embedded engine cannot seal programs here: ${reason}.`, {
    suggestion: `${fix}, ${otherEngine}.`,
    context: { engine: "local" },
    cause: new Error(said),
  });
}

function explain(said: string, settings: NamespaceSettings): readonly [reason: string, fix: string] {
  if (settings.maxUserNamespaces === "0") {
    return [
      "user namespaces are disabled (user.max_user_namespaces is 0)",
      "Run: sysctl -w user.max_user_namespaces=10000",
    ];
  }
  if (settings.unprivilegedClone === "0") {
    return [
      "unprivileged user namespaces are disabled (kernel.unprivileged_userns_clone is 0)",
      "Run: sysctl -w kernel.unprivileged_userns_clone=1",
    ];
  }
  if (settings.apparmorRestricts === "1") {
    return [
      "AppArmor restricts unprivileged user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
      "Run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give node, bwrap and unshare AppArmor profiles that allow userns",
    ];
  }
  if (/mount proc|\/proc\b/i.test(said)) {
    return [
      "a new /proc cannot be mounted, as is usual inside a container",
      "Run Glovebox on the host itself, or in a container with --security-opt systempaths=unconfined",
    ];
  }
  if (/operation not permitted|permission denied|no permissions/i.test(said)) {
    return [
      "the kernel does not allow namespaces, as is usual inside a container",
      "Run Glovebox on the host itself, or in a container that can create user and mount namespaces",
    ];
  }
  if (/seccomp/i.test(said))
    return ["the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)", "Use a kernel that has them"];
  if (/unrecognized option|unknown option|invalid option/i.test(said)) {
    return ["its tools are too old or cut down", "Install bubblewrap 0.5 or newer and the full util-linux"];
  }
  return [`a trial run failed: ${withoutPaths(said)}`, "Fix what the trial run reports"];
}

/** The last line of what a tool said, without the host's paths. */
function withoutPaths(said: string): string {
  const lastLine = said.trimEnd().split("\n").at(-1) ?? "";
  const plain = lastLine.replaceAll(/\/[^\s:'"]+/g, "(path)").slice(0, 200);
  return plain === "" ? "it said nothing" : plain;
}
