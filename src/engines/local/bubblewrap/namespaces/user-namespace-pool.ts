import { closeSync } from "node:fs";
import { programUser } from "../../../../policy/profile.ts";
import type { HostUids } from "../../../host-uids.ts";
import { parseProcessUser } from "../../local-spec.ts";
import { openUserNamespace, type HostUsers, type UserNamespaceOptions } from "./user-namespace.ts";

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
