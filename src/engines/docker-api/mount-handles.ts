import type { ContainerSpec } from "../container-spec.ts";
import type { Api } from "./http/api.ts";
import { containerPath } from "./container/container-link.ts";
import { removeContainer } from "./container/remove-container.ts";

/** Creates a container whose mounts are made of what we hold open, or of names; resolves to its id. */
type MakeContainer = (mountsByHandle: boolean) => Promise<string>;

/** A container as it was made. */
export interface MadeContainer {
  readonly id: string;
  readonly byHandle: boolean;
}

/**
 * Whether an engine can mount what this process holds open, so that no name is looked up: only one that shares our
 * mounts and processes can. Nothing but a trial tells, which the first container with such a mount is.
 */
export class MountHandles {
  readonly #api: Api;
  /** Undefined: not tried. */
  #work: boolean | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Resolves to the container's id, and whether it was made with handles: it must not run then if what is mounted
   * cannot be seen.
   * @throws what `make` throws
   */
  async make(spec: ContainerSpec, make: MakeContainer, signal: AbortSignal | undefined): Promise<MadeContainer> {
    const target = spec.mounts?.find(({ identity }) => (identity?.heldAt ?? null) !== null)?.target;
    if (target === undefined || this.#work === false) return { id: await make(false), byHandle: false };
    if (this.#work === true) return { id: await make(true), byHandle: true };
    const id = await make(true).catch(() => null);
    // Whatever the reason was, the other way shows whether it matters.
    if (id === null) return { id: await make(false), byHandle: false };
    try {
      this.#work = await this.#mounts(id, target, signal);
    } catch (error) {
      await removeContainer(this.#api, id);
      throw error;
    }
    if (this.#work) return { id, byHandle: true };
    await removeContainer(this.#api, id);
    return { id: await make(false), byHandle: false };
  }

  /** Another process had that number, on another machine or in another namespace: names are mounted from now on. */
  giveUp(): void {
    this.#work = false;
  }

  /** Looking at a place of a container that does not run makes the engine mount all that belongs to it, for that time. */
  async #mounts(id: string, target: string, signal: AbortSignal | undefined): Promise<boolean> {
    const query = { path: `${target}/.` };
    const request = { method: "HEAD", path: containerPath({ id }, "archive"), query, signal } as const;
    const { status } = await this.#api.call("look at a mount", request, [400, 404, 500]);
    return status === 200;
  }
}
