import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EngineName } from "../engines/engine.ts";

/** What is written down of a live sandbox, so that other commands on this machine can see and end it. */
export interface SandboxRecord {
  readonly id: string;
  readonly engine: EngineName;
  readonly kind: string;
  readonly principal: string;
  readonly owner: string;
  readonly createdAtMs: number;
}

/** How long a server may take to remove a sandbox that it was asked to, and how often it is looked whether it did. */
const removalByOwnerMs = 15_000;
const askedEveryMs = 100;

const idForm = /^sbx-[a-z0-9]{1,40}$/;

/**
 * The records of the live sandboxes of this machine's user: one small file each.
 *
 * Containers can be listed and removed on their engine by anyone; the embedded engine's live inside their server, so
 * another command asks that server to remove one by a mark beside the record, which the server looks for.
 */
export class SandboxRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(record: SandboxRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(record.id);
    await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async delete(id: string): Promise<void> {
    await Promise.all([rm(this.#file(id), { force: true }), rm(this.#mark(id), { force: true })]);
  }

  async list(): Promise<readonly SandboxRecord[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const records = await Promise.all(names.filter((name) => name.endsWith(".json")).map((name) => this.#read(name)));
    return records.filter((record) => record !== null);
  }

  /**
   * Asks the server that owns the sandbox to remove it and waits until it has.
   * @throws INTERNAL when that server does not
   */
  async removeByOwner(id: string): Promise<void> {
    await writeFile(this.#mark(id), "", { mode: 0o600 });
    for (let waitedMs = 0; (await this.#read(`${id}.json`)) !== null; waitedMs += askedEveryMs) {
      if (waitedMs > removalByOwnerMs) throw notRemoved(id);
      await sleep(askedEveryMs);
    }
  }

  /** Ids whose removal somebody has asked for. */
  async asked(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name.endsWith(".remove")).map((name) => name.slice(0, -".remove".length));
  }

  async #read(name: string): Promise<SandboxRecord | null> {
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

  #mark(id: string): string {
    return path.join(this.#folder, `${checkId(id)}.remove`);
  }
}

function notRemoved(id: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The process that owns ${id} did not remove it.`, {
    suggestion: "End that process; its sandboxes end with it.",
    context: { sandbox_id: id },
  });
}

function checkId(id: string): string {
  if (!idForm.test(id)) throw new TypeError("Not the id of a sandbox.");
  return id;
}
