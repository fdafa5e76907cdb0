import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { EngineName } from "../../engines/engine.ts";
import { isPrivateFolder, makePrivateFolder } from "../../base/own-folder.ts";

/** What is recorded of a live sandbox, so that other commands on this machine can see and end it. */
export interface SandboxRecord {
  readonly id: string;
  /** The id in the labels of its container, where that was started before anybody asked; left out: `id`. */
  readonly startedAs?: string | undefined;
  readonly engine: EngineName;
  readonly kind: string;
  /** Who asks; null: nobody yet. */
  readonly principal: string | null;
  readonly owner: string;
  readonly createdAtMs: number;
  /** What its caller has marked it with; left out for nothing. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Its caller's own word for it; left out for none. */
  readonly name?: string | undefined;
  /** Its container's image; left out where the engine has none. */
  readonly image?: string | undefined;
  /** What runs in it, or ran last, in a few words; left out until something does. */
  readonly work?: string | undefined;
  /** Where its owner can be asked for it (`src/peers`); null: nowhere. */
  readonly peerAddress?: string | null | undefined;
}

/** What is known about a sandbox that is running now. */
export type LiveRecord = Omit<SandboxRecord, "peerAddress">;

const idForm = /^sbx-[a-z0-9]{1,40}$/;

/**
 * The records of the live sandboxes of this machine's user: one small file each.
 */
export class SandboxRecords {
  readonly #folder: string;
  readonly #uid: number | null;
  /** Those that this process has written, as they are in their files. */
  readonly #own = new Map<string, SandboxRecord>();

  /** `uid`: this user's; null where the system has no user ids. */
  constructor(folder: string, uid: number | null) {
    this.#folder = folder;
    this.#uid = uid;
  }

  async add(record: SandboxRecord): Promise<void> {
    await makePrivateFolder(this.#folder, this.#uid);
    const file = this.#file(record.id);
    await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    await rename(`${file}.new`, file);
    this.#own.set(record.id, record);
  }

  async delete(id: string): Promise<void> {
    this.#own.delete(id);
    await rm(this.#file(id), { force: true });
  }

  async list(): Promise<readonly SandboxRecord[]> {
    // A record says where its owner is reached: one that others could have written might lead anywhere.
    if (!(await isPrivateFolder(this.#folder, this.#uid))) return [];
    const names = await readdir(this.#folder).catch(() => []);
    const records = await Promise.all(names.filter((name) => name.endsWith(".json")).map((name) => this.#read(name)));
    return records.filter((record) => record !== null);
  }

  /** Null when there is none for a sandbox with that id. */
  async find(id: string): Promise<SandboxRecord | null> {
    if (!idForm.test(id) || !(await isPrivateFolder(this.#folder, this.#uid))) return null;
    return this.#read(`${id}.json`);
  }

  async #read(name: string): Promise<SandboxRecord | null> {
    const own = this.#own.get(name.slice(0, -".json".length));
    if (own !== undefined) return own;
    try {
      return JSON.parse(await readFile(path.join(this.#folder, name), "utf8")) as SandboxRecord;
    } catch {
      // Removed between the listing and the reading, or not a record.
      return null;
    }
  }

  #file(id: string): string {
    return path.join(this.#folder, `${checkId(id)}.json`);
  }
}

function checkId(id: string): string {
  if (!idForm.test(id)) throw new TypeError("Not the id of a sandbox.");
  return id;
}
