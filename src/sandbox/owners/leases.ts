import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { isPrivateFolder, makePrivateFolder } from "../../base/own-folder.ts";
import { isAlive, isSameBoot, type ProcessIdentity } from "./process-identity.ts";
import type { Kit } from "../../base/kit.ts";

/** What is known about the server that made an object: it lives, it is gone, or this machine cannot tell. */
export type OwnerState = "living" | "expired" | "unknown";

const leaseSchema = z.object({
  process: z.object({ machine: z.string(), pid: z.int().positive(), startTicks: z.string().nullable() }),
  /** By the wall clock, which may be set. */
  renewedAtMs: z.number(),
  /** By the kernel's clock since the boot, which nobody can set. */
  renewedUptimeMs: z.number(),
});

type LeaseFile = z.output<typeof leaseSchema>;

/** What this process has seen of the lease of another boot. */
interface Sighting {
  readonly renewedAtMs: number;
  readonly firstSeenMs: number;
  readonly wasLate: boolean;
}

export interface LeasesOptions extends Pick<Kit, "logger" | "now"> {
  /** Folder of the leases; made when it is missing, for this user only. */
  readonly folder: string;
  /** Of this user; null where the system has no user ids. */
  readonly uid: number | null;
  /** Owner id of this process. */
  readonly owner: string;
  /** This process. */
  readonly identity: ProcessIdentity;
  /**
   * Milliseconds since the boot of this machine, on a clock that nobody can set and that runs on while the machine
   * sleeps.
   */
  readonly uptimeMs: () => number;
}

/** How often a living server renews its lease. */
const renewEveryMs = 60_000;
/** After this long without renewal a lease counts as expired, on whatever machine: five missed renewals. */
const expiresAfterMs = 300_000;

/** Expired leases are kept this long, since other engines may still hold sandboxes of that owner: 7 days. */
const forgottenAfterMs = 7 * 24 * 3_600_000;

/** What owner ids look like: they become file names, and labels on an engine may have been written by anyone. */
const ownerForm = /^[a-z0-9-]{1,64}$/;

/**
 * One file for each living server, so that others can tell whose sandboxes are left over (DESIGN 10).
 *
 * A server on the same machine is known to be gone at once when its process is; one in another process namespace, or
 * elsewhere (a shared home folder), when it has not renewed its lease. A clock that is set ends nobody's lease that this
 * process has seen renewed, and makes none last.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #sightings = new Map<string, Sighting>();
  #held: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Owner id of this process. */
  get owner(): string {
    return this.#options.owner;
  }

  /** Takes this process's lease, once, and keeps it renewed until `release`. */
  hold(): Promise<void> {
    this.#held ??= this.#hold();
    return this.#held;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#held === undefined) return;
    await this.#held.catch(() => {
      // Then there is no lease to give back.
    });
    await rm(this.#file(this.#options.owner), { force: true });
  }

  async stateOf(owner: string): Promise<OwnerState> {
    if (owner === this.#options.owner) return "living";
    if (!ownerForm.test(owner)) return "unknown";
    const lease = await this.#read(owner);
    if (lease === null) return "unknown";
    const alive = isAlive(lease.process, this.#options.identity);
    if (alive === false) return "expired";
    // A running process that slept through its renewals (a suspended laptop) is still alive.
    return alive === null && this.#isLate(owner, lease) ? "expired" : "living";
  }

  #isLate(owner: string, { process, renewedAtMs, renewedUptimeMs }: LeaseFile): boolean {
    const { identity, now, uptimeMs } = this.#options;
    if (isSameBoot(process, identity)) return uptimeMs() - renewedUptimeMs > expiresAfterMs;
    const seen = this.#sightings.get(owner);
    if (seen?.renewedAtMs === renewedAtMs) return seen.wasLate || uptimeMs() - seen.firstSeenMs > expiresAfterMs;
    // The clocks of two boots can be compared as far as they are right; what is renewed while it is watched is not late.
    const wasLate = seen === undefined && now() - renewedAtMs > expiresAfterMs;
    this.#sightings.set(owner, { renewedAtMs, firstSeenMs: uptimeMs(), wasLate });
    return wasLate;
  }

  /** Forgets servers that have been gone for so long that all of their sandboxes are over their own hard end. */
  async forgetLongExpired(): Promise<void> {
    const names = await readdir(this.#options.folder).catch(() => []);
    for (const owner of names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length))) {
      const lease = await this.#read(owner);
      // A time in the future was written by a wrong clock.
      const old = lease !== null && Math.abs(this.#options.now() - lease.renewedAtMs) > forgottenAfterMs;
      if (!old || (await this.stateOf(owner)) !== "expired") continue;
      await rm(this.#file(owner), { force: true });
      this.#sightings.delete(owner);
    }
  }

  async #hold(): Promise<void> {
    await makePrivateFolder(this.#options.folder, this.#options.uid);
    await this.#write();
    this.#timer = setInterval(() => {
      this.#write().catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, "the lease could not be renewed");
      });
    }, renewEveryMs);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const file = this.#file(this.#options.owner);
    const { identity, now, uptimeMs } = this.#options;
    const lease: LeaseFile = { process: identity, renewedAtMs: now(), renewedUptimeMs: uptimeMs() };
    // Renamed into place, so that nobody reads half of it.
    await writeFile(`${file}.new`, JSON.stringify(lease), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async #read(owner: string): Promise<LeaseFile | null> {
    const { folder, uid } = this.#options;
    // What others could have written proves nothing about anybody.
    if (!(await isPrivateFolder(folder, uid))) return null;
    try {
      return leaseSchema.parse(JSON.parse(await readFile(this.#file(owner), "utf8")));
    } catch {
      // Missing, or not one of ours: it says nothing.
      return null;
    }
  }

  #file(owner: string): string {
    return path.join(this.#options.folder, `${owner}.json`);
  }
}
