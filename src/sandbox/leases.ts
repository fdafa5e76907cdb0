import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "../base/logger.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";

/** What is known of the server that made an object: it lives, it is gone, or this machine cannot tell. */
export type OwnerState = "living" | "expired" | "unknown";

interface LeaseFile {
  readonly process: ProcessIdentity;
  readonly renewedAtMs: number;
}

export interface LeasesOptions {
  /** Folder of the leases; made when it is missing, for this user only. */
  readonly folder: string;
  /** Owner id of this process. */
  readonly owner: string;
  /** This process. */
  readonly identity: ProcessIdentity;
  readonly logger: Logger;
  readonly now: () => number;
}

/** How often a living server renews its lease. */
const renewEveryMs = 60_000;
/** After this long without renewal a lease counts as expired, whatever machine it is of: five missed renewals. */
const expiresAfterMs = 300_000;

/** Expired leases are kept this long, since other engines may still hold sandboxes of that owner: 7 days. */
const forgottenAfterMs = 7 * 24 * 3_600_000;

/** What owner ids look like: they become file names, and labels on an engine may have been written by anyone. */
const ownerForm = /^[a-z0-9-]{1,64}$/;

/**
 * One file for each living server, so that others can tell whose sandboxes are left over (DESIGN 10).
 *
 * A server on the same machine is known to be gone at once when its process is; one elsewhere (a shared home folder)
 * when it has not renewed its lease.
 */
export class Leases {
  readonly #options: LeasesOptions;
  #held: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
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
    const late = this.#options.now() - lease.renewedAtMs > expiresAfterMs;
    // A process that runs but slept through its renewals (a suspended laptop) is alive all the same.
    return alive === null && late ? "expired" : "living";
  }

  /** Forgets servers that have been gone for so long that all of their sandboxes are over their own hard end. */
  async forgetLongExpired(): Promise<void> {
    const names = await readdir(this.#options.folder).catch(() => []);
    for (const owner of names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length))) {
      const lease = await this.#read(owner);
      const old = lease !== null && this.#options.now() - lease.renewedAtMs > forgottenAfterMs;
      if (old && (await this.stateOf(owner)) === "expired") await rm(this.#file(owner), { force: true });
    }
  }

  async #hold(): Promise<void> {
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
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
    const lease: LeaseFile = { process: this.#options.identity, renewedAtMs: this.#options.now() };
    // Renamed into place, so that nobody reads half of it.
    await writeFile(`${file}.new`, JSON.stringify(lease), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async #read(owner: string): Promise<LeaseFile | null> {
    try {
      return JSON.parse(await readFile(this.#file(owner), "utf8")) as LeaseFile;
    } catch {
      // Missing, or not one of ours: nothing can be told from it.
      return null;
    }
  }

  #file(owner: string): string {
    return path.join(this.#options.folder, `${owner}.json`);
  }
}
