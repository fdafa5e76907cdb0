import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tarOfFolder, tarOf } from "./tar.ts";

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

it("makes an archive of a folder, with its long names, its modes and its empty folders", async () => {
  const place = await mkdtemp(path.join(tmpdir(), "glovebox-tar-"));
  try {
    const folder = path.join(place, "from");
    const deep = path.join("a".repeat(90), "b".repeat(90), "ü");
    await mkdir(path.join(folder, deep), { recursive: true });
    await mkdir(path.join(folder, "empty"), { mode: 0o555 });
    await writeFile(path.join(folder, deep, "run"), Buffer.alloc(70_000, "x"), { mode: 0o555 });
    await writeFile(path.join(place, "all.tar"), tarOfFolder(folder));
    await mkdir(path.join(place, "to"));
    await promisify(execFile)("tar", ["-xpf", "../all.tar"], { cwd: path.join(place, "to") });
    await promisify(execFile)("diff", ["-r", "from", "to"], { cwd: place });
    expect((await stat(path.join(place, "to", deep, "run"))).mode & 0o777).toBe(0o555);
    expect((await stat(path.join(place, "to", "empty"))).mode & 0o777).toBe(0o555);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
