import { closeSync, openSync, writeFileSync } from "node:fs";
import { programUser, helperUser } from "../../../policy/profile.ts";
import type { HostUids } from "../../container-users.ts";
import { parseProcessUser, type SandboxUser } from "../local-spec.ts";
import { withSetupProcess, type HostTools } from "./host-tools.ts";

const helper = parseProcessUser(helperUser);

/** Users of the host that belong to no account, for one container. */
interface HostUsers {
  /** Of the supervisor, which is root in its user namespace and nobody outside. */
  readonly supervisor: number;
  readonly programs: number;
  /** Of helpers of ours that programs must not reach (`helperUser`). */
  readonly helpers: number;
}

interface UserNamespaceOptions {
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
async function openUserNamespace({ tools, users, inside, signal }: UserNamespaceOptions): Promise<number> {
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

/** A user namespace with its two users, which are nobody else's until it is released. */
export interface ContainerUsers {
  readonly descriptor: number;
  readonly hostUsers: HostUsers;
  /** Closes the descriptor and gives the users back: nothing runs as them any more, and nothing of theirs is left. */
  release(): void;
}

export interface UserNamespacePoolOptions extends Pick<UserNamespaceOptions, "tools"> {
  readonly hostUids: HostUids;
}

/** Longer than a caller of a single run needs to close the engine afterwards, so that none is made for nothing. */
const replenishAfterMs = 20;

/** User namespaces for containers; the next one for the usual user is made in advance. Each serves one container. */
export class UserNamespacePool {
  readonly #options: UserNamespacePoolOptions;
  readonly #closing = new AbortController();
  #next: Promise<ContainerUsers> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UserNamespacePoolOptions) {
    this.#options = options;
  }

  /** One whose programs are `user` inside (`uid:gid`). @throws what `openUserNamespace` throws */
  async take(user: string, signal: AbortSignal | undefined): Promise<ContainerUsers> {
    const ready = user === programUser ? this.#next : null;
    if (ready === null) return this.#make(user, signal);
    this.#next = null;
    return (await ready.catch(() => null)) ?? this.#make(user, signal);
  }

  /** Makes the next one in the background after a short delay: called when a container has gone, perhaps the last. */
  replenish(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#makeNext(), replenishAfterMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closing.abort();
    void this.#next?.then(
      (users) => users.release(),
      () => undefined,
    );
    this.#next = null;
  }

  #makeNext(): void {
    const { signal } = this.#closing;
    if (signal.aborted || this.#next !== null) return;
    this.#next = this.#make(programUser, signal);
    this.#next.catch(() => {
      // The next caller makes another, and is told if that fails.
    });
  }

  async #make(user: string, signal: AbortSignal | undefined): Promise<ContainerUsers> {
    const { tools, hostUids } = this.#options;
    const hostUsers = { supervisor: hostUids.take(), programs: hostUids.take(), helpers: hostUids.take() };
    const giveBack = (): void => Object.values(hostUsers).forEach((uid) => hostUids.release(uid));
    try {
      const inside = parseProcessUser(user);
      const descriptor = await openUserNamespace({ tools, users: hostUsers, inside, signal });
      const release = (): void => {
        closeSync(descriptor);
        giveBack();
      };
      return { descriptor, hostUsers, release };
    } catch (error) {
      giveBack();
      throw error;
    }
  }
}
