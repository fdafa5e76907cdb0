import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bytesOf } from "../../../test/helpers/bytes-of.ts";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { boundArchive } from "./tree-archive.ts";
import { MoveBounds, treeLimits, type MoveLimits } from "./move-bounds.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-bound-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));
const sh = (line: string): Buffer => execFileSync("sh", ["-c", line], { cwd: folder, maxBuffer: 2 ** 26 });

/** In pieces that end anywhere. */
async function* pieces(bytes: Uint8Array, size = 777): AsyncGenerator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

function bound(bytes: Uint8Array, limits: Partial<MoveLimits> = {}): Promise<Buffer> {
  return bytesOf(boundArchive(pieces(bytes), new MoveBounds("/work", { ...treeLimits, ...limits }, {})));
}

/** Names of any bytes, long ones, links, FIFOs, second names. */
const tree = `mkdir -p tree/$(printf 'd%.0s' $(seq 150)); cd tree; printf abc >"$(printf 'bad\\377')"; mkfifo fifo
ln -s nowhere link; ln fifo twin; head -c 100000 /dev/zero >zeros; printf x >$(printf 'd%.0s' $(seq 150))/$(printf 'e%.0s' $(seq 120))`;

describe("an archive with its bounds", () => {
  sh(tree);
  it.each([["gnu"], ["posix"], ["ustar"], ["v7"]])("of form %s unpacks as it was", async (form) => {
    const given = sh(`tar -c --format=${form} -f - -C tree . 2>/dev/null || true`);
    const bounded = await bound(given);
    const listed = (archive: Buffer): string =>
      execFileSync("tar", ["-tvf", "-"], { input: archive, encoding: "latin1" });
    expect(listed(bounded)).toBe(listed(given));
    expect(bounded.subarray(0, bounded.length - 1024).equals(given.subarray(0, bounded.length - 1024))).toBe(true);
  });

  it("of nothing is nothing", async () => {
    expect(await bound(Buffer.alloc(0))).toHaveLength(0);
  });

  it("has no more entries, bytes or folders in folders than it may", async () => {
    const given = sh("mkdir many; cd many; seq 50 | xargs touch; tar -cf - .");
    expect((await bound(given, { maxEntries: 51 })).length).toBeGreaterThan(51 * 512);
    await failureOf(bound(given, { maxEntries: 50 }), "POLICY_DENIED");
    await failureOf(bound(given, { maxBytes: 51 * 512 }), "POLICY_DENIED");
    const shallow = new MoveBounds("/work", treeLimits, { depth: 10 });
    const deep = sh("d=deep; i=0; while [ $i -lt 20 ]; do d=$d/d; i=$((i+1)); done; mkdir -p $d; tar -cf - deep");
    await failureOf(bytesOf(boundArchive(pieces(deep), shallow)), "POLICY_DENIED");
  });

  it("that is none, is cut off or goes on without end is refused", async () => {
    const given = sh("tar -cf - -C tree .");
    await expect(bound(Buffer.alloc(5120, 0x41))).rejects.toThrow(RangeError);
    await expect(bound(given.subarray(0, 3000))).rejects.toThrow(RangeError);
    await expect(bound(Buffer.concat([given, Buffer.alloc(2 ** 21)]))).rejects.toThrow(RangeError);
  });
});
