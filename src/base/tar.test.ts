import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tarOf } from "./tar.ts";

it("makes archives that tar reads", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "glovebox-tar-"));
  try {
    const large = Buffer.alloc(70_000, "x");
    const files = [
      { path: "a", content: Buffer.from("one") },
      { path: "b/empty", content: Buffer.alloc(0) },
      { path: "b/large", content: large },
    ];
    await writeFile(path.join(folder, "all.tar"), tarOf(files));
    await promisify(execFile)("tar", ["-xf", "all.tar"], { cwd: folder });
    for (const file of files) expect(await readFile(path.join(folder, file.path))).toEqual(file.content);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it("refuses a path that no header holds", () => {
  expect(() => tarOf([{ path: "a".repeat(101), content: Buffer.alloc(0) }])).toThrow(RangeError);
});
