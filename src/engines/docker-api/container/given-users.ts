import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { HostUids, nearUids } from "../../host-uids.ts";
import { usualSupervisor } from "../../supervised/container/apart-terms.ts";
import type { RuntimeKind } from "../oci-runtime.ts";

/** A container's users, until they are released. */
export interface GivenUsers {
  /** Of the container, with the user that its programs have. */
  readonly spec: ContainerSpec;
  /** That user, where it was chosen here: nobody's. */
  readonly programs: number | null;
  /** User and group of its supervisor: no program's. */
  readonly supervisor: number;
  readonly release: () => void;
}

/**
 * Gives the programs of each container a user of their own, where they need not be somebody and the kernel is shared, and its
 * supervisor another: what the kernel counts for each user (watches, descriptors on their way, pending signals, pages of pipes) is
 * then each container's own. Two servers of one engine may choose the same user; a container cannot choose.
 */
export class ContainerUsers {
  readonly #uids: HostUids;

  constructor(randomInteger: (minimum: number, maximum: number) => number) {
    this.#uids = new HostUids(nearUids, randomInteger);
  }

  /** `owner` owns what programs wrote to the container that the image was made of: those of this one are the same user. */
  give(spec: ContainerSpec, runtimeKind: RuntimeKind, owner: number | null): GivenUsers {
    if (runtimeKind !== "namespaces") {
      return { spec, programs: null, supervisor: usualSupervisor, release: () => undefined };
    }
    const isAnybody = (spec.processUser ?? programUser) === programUser;
    const program = isAnybody ? this.#uids.take(owner) : null;
    const own = this.#uids.take();
    let taken: readonly (number | null)[] = [program, own];
    return {
      spec: program === null ? spec : { ...spec, processUser: `${program}:${program}` },
      programs: program,
      // The same only when there are more containers than users.
      supervisor: own === program ? usualSupervisor : own,
      release: () => {
        for (const uid of taken) this.#uids.release(uid);
        taken = [];
      },
    };
  }
}
