import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { OutputChunk } from "../../src/engines/engine.ts";
import { parseGlobs } from "../../src/policy/patterns/glob.ts";
import {
  collectArtifacts,
  maxArtifacts,
  maxListedArtifacts,
  type Artifact,
} from "../../src/workloads/execute/artifacts.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import type { CommandSandbox } from "../../src/sandbox/sandbox-command.ts";

/** Runs the commands on this machine, which has the same shell and tools. */
function hostSandbox(path: string): CommandSandbox {
  return {
    exec: async ({ command, environment }, { signal } = {}) => {
      const [program = "", ...rest] = command;
      const child = spawn(program, rest, { env: { PATH: path, ...environment }, signal });
      child.on("error", () => {
        // Cancelled by the test; the exit below shows the result.
      });
      const { promise: exit, resolve } = Promise.withResolvers<{ exitCode: number }>();
      child.once("close", (code) => resolve({ exitCode: code ?? 137 }));
      async function* output(): AsyncGenerator<OutputChunk, void, undefined> {
        const stderr: Buffer[] = [];
        child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
        for await (const bytes of child.stdout) yield { stream: "stdout", bytes: bytes as Buffer };
        yield { stream: "stderr", bytes: Buffer.concat(stderr) };
      }
      return { stdin: child.stdin, output: output(), exit, kill: async () => void child.kill("SIGKILL") };
    },
  };
}

const filesWith = (path: string): SandboxFiles =>
  new SandboxFiles(
    { ...hostSandbox(path), isAlive: () => Promise.resolve(true) },
    { programs: "any", isolation: "container" },
  );
const hasBusybox = spawnSync("busybox").error === undefined;
let folder = "";
let tools = "/usr/bin:/bin";

const collect = (globs: readonly string[], ownPaths: readonly string[] = []): Promise<readonly Artifact[]> =>
  collectArtifacts({ files: filesWith(tools), globs: parseGlobs(globs), ownPaths, folder });
const place = async (path: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), content);
};
const pathsOf = (artifacts: readonly Artifact[]): readonly string[] => artifacts.map(({ path }) => path);

describe.each(["the system's tools", "BusyBox"])("artifacts, with %s", (kind) => {
  beforeEach(async (context) => {
    if (kind === "BusyBox" && !hasBusybox) context.skip("no busybox on this machine");
    folder = await mkdtemp(join(tmpdir(), "glovebox-artifacts-"));
    if (kind === "BusyBox") {
      tools = await mkdtemp(join(tmpdir(), "glovebox-busybox-"));
      spawnSync("busybox", ["--install", "-s", tools]);
    }
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
    if (tools !== "/usr/bin:/bin") await rm(tools, { recursive: true, force: true });
    tools = "/usr/bin:/bin";
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

  it("do not include links, pipes, sockets or folders", async () => {
    await place("real.txt", "x");
    await symlink("/etc/passwd", join(folder, "link.txt"));
    await symlink("/etc", join(folder, "folder"));
    spawnSync("mkfifo", [join(folder, "pipe.txt")]);
    await mkdir(join(folder, "dir.txt"));
    expect(pathsOf(await collect(["**"]))).toEqual(["real.txt"]);
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

  it("are many, but not without limit", async () => {
    for (let index = 0; index < maxListedArtifacts + 5; index += 1)
      await place(`f${String(index).padStart(4, "0")}`, "x");
    const found = await collect(["*"]);
    expect(found).toHaveLength(maxListedArtifacts);
    expect(found.filter(({ omitted }) => omitted === undefined)).toHaveLength(maxArtifacts);
    expect(found.at(-1)?.omitted).toBe("More than 100 files match (and 5 more that are not listed).");
  });

  it("are none when the folder is gone", async () => {
    await rm(folder, { recursive: true });
    expect(await collect(["*"])).toEqual([]);
  });

  it("need tools", async () => {
    await place("a", "x");
    const bare = await mkdtemp(join(tmpdir(), "glovebox-bare-"));
    try {
      await symlink("/bin/sh", join(bare, "sh"));
      const files = filesWith(bare);
      await expect(collectArtifacts({ files, globs: parseGlobs(["*"]), ownPaths: [], folder })).rejects.toMatchObject({
        errorType: "UNSUPPORTED",
      });
    } finally {
      await rm(bare, { recursive: true });
    }
  });

  it("are cancelled with their caller", async () => {
    const signal = AbortSignal.abort();
    const files = filesWith(tools);
    await expect(
      collectArtifacts({ files, globs: parseGlobs(["*"]), ownPaths: [], folder, signal }),
    ).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
