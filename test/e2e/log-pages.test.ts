import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { readPage } from "../../src/operations/logs-handler.ts";
import { droppedBlock, offsetsOf } from "../../src/telemetry/log-entry.ts";
import { LogRing } from "../../src/telemetry/log-ring.ts";
import { blocksOf, entriesOf, openStore } from "../helpers/store-scene.ts";

const source = { sandbox: "sbx-1", principal: "ann" };

it("a log whose store missed lines that are in memory shows them, and counts those that are lost", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-log-pages-"));
  const store = openStore({ kind: "sqlite", file: path.join(folder, "store.db") });
  try {
    const ring = new LogRing(source, { maxBytes: 4_000, now: () => 1 });
    for (const { source: _source, offset: _offset, ...block } of blocksOf(entriesOf(source, 100))) ring.push(block);
    const { firstOffset } = ring;
    expect(firstOffset).toBeGreaterThan(10);
    expect(firstOffset).toBeLessThan(95);
    for (const block of blocksOf(entriesOf(source, 10))) store.entries.offer(block);
    // Everything else found no room on its way, including what memory still holds.
    store.entries.offer(droppedBlock(source, { offset: 10, count: 90 }, 1));
    await store.idle();
    const readFrom = async (
      offset: number,
      stream: "stdout" | undefined,
      limit = 1_000,
    ): Promise<readonly string[]> => {
      const messages: string[] = [];
      let [at, entries] = [offset, 0];
      while (at < ring.nextOffset) {
        const page = await readPage({ store }, { ...source, ring }, { stream, offset: at, limit });
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        expect(page.nextOffset).toBeGreaterThan(at);
        messages.push(...page.entries.map(({ message }) => message));
        entries += page.entries.reduce((sum, entry) => sum + offsetsOf(entry), 0);
        at = page.nextOffset;
      }
      expect(entries).toBe(100 - offset);
      return messages;
    };
    const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `line ${from + index}`);
    const missing = (count: number) => `${count} entries are missing here`;
    const whole = [...lines(0, 10), missing(firstOffset - 10), ...lines(firstOffset, 100)];
    expect(await readFrom(0, undefined)).toEqual(whole);
    expect(await readFrom(0, "stdout")).toEqual(whole);
    expect(await readFrom(0, undefined, 1)).toEqual(whole);
    expect(await readFrom(firstOffset, undefined)).toEqual(lines(firstOffset, 100));
  } finally {
    await store.close(5_000);
    rmSync(folder, { recursive: true });
  }
});
