import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { parseGlobs } from "../../src/policy/glob.ts";
import {
  collectArtifacts,
  maxArtifacts,
  maxListedArtifacts,
  leftOutWarnings,
  type Artifact,
  type CollectedArtifacts,
} from "../../src/workloads/execute/artifacts.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";

/** The files of a folder of this machine. */
const filesOf = (here: string): SandboxFiles =>
  new SandboxFiles(
    {},
    { programs: "interpretersOnly", isolation: "preload" },
    {
      places: [{ inside: here, here, readOnly: false }],
      platform: process.platform,
      assertLiving: () => Promise.resolve(),
    },
  );
let folder = "";

const collectAll = (globs: readonly string[], ownPaths: readonly string[] = []): Promise<CollectedArtifacts> =>
  collectArtifacts({ files: filesOf(folder), globs: parseGlobs(globs), ownPaths, folder });
const collect = async (...given: Parameters<typeof collectAll>): Promise<readonly Artifact[]> =>
  (await collectAll(...given)).artifacts;
const place = async (path: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), content);
};
const pathsOf = (artifacts: readonly Artifact[]): readonly string[] => artifacts.map(({ path }) => path);

describe("artifacts", () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "glovebox-artifacts-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it("are chosen by patterns, without the job's own files and hidden ones", async () => {
    for (const path of ["main.py", "data.csv", "out/a.csv", "out/deep/b.csv", ".hidden.csv", "note.txt"])
      await place(path, path);
    expect(pathsOf(await collect(["**/*.csv", "*.py"], ["main.py", "data.csv"]))).toEqual([
      "out/a.csv",
      "out/deep/b.csv",
    ]);
    expect(pathsOf(await collect([".hidden.csv"]))).toEqual([".hidden.csv"]);
    expect(await collect(["*.nothing"])).toEqual([]);
  });

  it("arrive byte for byte", async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256));
    await place("a.bin", bytes);
    await place("empty.txt", "");
    await place("b.csv", "ü,€\n");
    const [binary, table, empty] = await collect(["*"]);
    expect(Buffer.from(binary?.content ?? "", "base64")).toEqual(bytes);
    expect(binary).toMatchObject({ sizeBytes: 100_000, type: "binary", encoding: "base64" });
    expect(table).toEqual({
      path: "b.csv",
      sizeBytes: 7,
      mediaType: "text/csv",
      type: "table",
      encoding: "utf8",
      content: "ü,€\n",
    });
    expect(empty).toMatchObject({ path: "empty.txt", sizeBytes: 0, content: "" });
    expect(empty).not.toHaveProperty("omitted");
  });

  it("may have odd names", async () => {
    const names = ["-rf", "a b", "line\nbreak", "ünï€", "$(touch x)", "'quote\"", "*", "tab\t", "\\n", "...x"];
    for (const name of names) await place(`out/${name}`, name);
    const found = await collect(["out/*", "out/...x"]);
    expect(new Map(found.map(({ path, content }) => [path, content]))).toEqual(
      new Map(names.map((name) => [`out/${name}`, name])),
    );
  });

  it("name a file whose name is not UTF-8", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), "x");
    expect(await collect(["*"])).toEqual([
      expect.objectContaining({ path: "a\ufffd", omitted: "Its name is not valid UTF-8." }),
    ]);
  });

  it("do not include links, pipes, sockets or folders, which are named", async () => {
    await place("real.txt", "x");
    await symlink("/etc/passwd", join(folder, "link.txt"));
    await symlink("/etc", join(folder, "folder"));
    spawnSync("mkfifo", [join(folder, "pipe.txt")]);
    await mkdir(join(folder, "dir.txt"));
    await symlink("real.txt", join(folder, ".hidden"));
    const { artifacts, leftOut } = await collectAll(["**"], ["folder"]);
    expect(pathsOf(artifacts)).toEqual(["real.txt"]);
    expect(leftOutWarnings(leftOut)).toEqual([
      'artifacts: "link.txt" left out. Links are not followed. Copy the file in place of the link.',
      'artifacts: "pipe.txt" left out. Only files are returned, not pipes, sockets or devices.',
    ]);
    expect((await collectAll(["*.csv"])).leftOut).toEqual([]);
  });

  it("are listed without their content when they are too large", async () => {
    await place("a.csv", "x");
    await truncate(join(folder, "a.csv"), 10 * mebibyte + 1);
    await place("sparse.bin", "x");
    await truncate(join(folder, "sparse.bin"), 2 ** 40);
    await place("small.txt", "x");
    expect(await collect(["*"])).toEqual([
      expect.objectContaining({
        path: "a.csv",
        sizeBytes: 10 * mebibyte + 1,
        type: "table",
        content: "",
        omitted: expect.stringContaining("10 MiB"),
      }),
      expect.objectContaining({ path: "small.txt", content: "x" }),
      expect.objectContaining({ path: "sparse.bin", sizeBytes: 2 ** 40, omitted: expect.stringContaining("10 MiB") }),
    ]);
  });

  it("share one budget", async () => {
    for (const name of ["a", "b", "c"]) await place(name, Buffer.alloc(9 * mebibyte, name));
    await place("d", "small");
    const found = await collect(["*"]);
    expect(found.map(({ path, omitted, content }) => [path, omitted === undefined, content.length > 0])).toEqual([
      ["a", true, true],
      ["b", true, true],
      ["c", false, false],
      ["d", true, true],
    ]);
    expect(found[2]?.omitted).toContain("20 MiB");
  });

  it("that are too large, and folders that cannot be looked into, are named", async () => {
    await place("a.bin", "x");
    await truncate(join(folder, "a.bin"), 2 ** 40);
    await place("shut/b.bin", "x");
    await chmod(join(folder, "shut"), 0o100);
    const { leftOut } = await collectAll(["*"]);
    const reasons = leftOut.map(({ path, reason }) => [path, reason.split(" ").slice(0, 3).join(" ")]);
    // Root looks into every folder.
    const shut = process.getuid?.() === 0 ? [] : [["shut", "The program took"]];
    expect(reasons).toEqual([["a.bin", "Larger than the"], ...shut]);
  });

  it("are many, but not without limit", async () => {
    for (let index = 0; index < maxListedArtifacts + 5; index += 1)
      await place(`f${String(index).padStart(4, "0")}`, "x");
    const found = await collect(["*"]);
    expect(found).toHaveLength(maxListedArtifacts);
    expect(found.filter(({ omitted }) => omitted === undefined)).toHaveLength(maxArtifacts);
    expect(found.at(-1)?.omitted).toBe("More than 100 files match (and 5 more that are not listed).");
  });

  it("are cancelled with their caller", async () => {
    const signal = AbortSignal.abort();
    const files = filesOf(folder);
    await expect(
      collectArtifacts({ files, globs: parseGlobs(["*"]), ownPaths: [], folder, signal }),
    ).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
