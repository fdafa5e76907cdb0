import { openSync, writeFileSync } from "node:fs";
import { helperUser } from "../../../../policy/profile.ts";
import { parseProcessUser, type SandboxUser } from "../../local-spec.ts";
import type { HostTools } from "./host-tools.ts";
import { withSetupProcess } from "./setup-process.ts";

const helper = parseProcessUser(helperUser);

/** Users of the host that belong to no account, for one container. */
export interface HostUsers {
  /** Of the supervisor, which is root in its user namespace and nobody outside. */
  readonly supervisor: number;
  readonly programs: number;
  /** Of helpers of ours that programs must not reach (`helperUser`). */
  readonly helpers: number;
}

export interface UserNamespaceOptions {
  readonly tools: Pick<HostTools, "setpriv" | "unshare">;
  readonly users: HostUsers;
  /** Who programs are inside. */
  readonly inside: SandboxUser;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for its users, and becomes root of the namespace by running the next shell. That one forbids further user
 * namespaces; where the host's /proc is read-only it cannot, and the filter of system calls alone refuses them.
 */
const script = `
echo ready
read -r _ || :
exec /bin/sh -c '(echo 0 >/proc/sys/user/max_user_namespaces) 2>/dev/null || :'
`;

/**
 * A user namespace with three users: root, who is the supervisor, the programs' user, and that of helpers of ours. None is
 * anybody on the host. Only root can give it more than one; it belongs to the supervisor's user all the same, for the kernel counts what is used inside
 * for the user who made it too. The descriptor returned is all that keeps it.
 * @throws Error with the tools' words, CANCELLED
 */
export async function openUserNamespace({ tools, users, inside, signal }: UserNamespaceOptions): Promise<number> {
  const owner = String(users.supervisor);
  const args = [
    ...["--reuid", owner, "--regid", owner, "--clear-groups", "--"],
    ...[tools.unshare, "--user", "--", "/bin/sh", "-c", script],
  ];
  return withSetupProcess({ file: tools.setpriv, args, signal }, (processId) => {
    for (const kind of ["uid", "gid"] as const) {
      const rows = [
        [0, users.supervisor],
        [inside[kind], users.programs],
        [helper[kind], users.helpers],
      ];
      writeFileSync(
        `/proc/${processId}/${kind}_map`,
        rows.map(([within, outside]) => `${within} ${outside} 1\n`).join(""),
      );
    }
    return openSync(`/proc/${processId}/ns/user`, "r");
  });
}
