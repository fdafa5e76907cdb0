import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unpack, type Unpacked } from "./unpack.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-unpack-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const limits = { maxFiles: 100, maxBytes: 1_000_000 };

/** The text in pieces of a few bytes. */
async function* pieces(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function entry(name: string, content: string): string {
  return `${JSON.stringify({ path: name, size: Buffer.byteLength(content), executable: false })}\n${content}`;
}

function stream(...entries: readonly string[]): string {
  return `{"packages":[["a","1.0.0"]]}\n${entries.join("")}{"files":${entries.length}}\n`;
}

const into = (text: string): Promise<Unpacked> => unpack(pieces(text), path.join(folder, "out"), limits);

describe("unpack", () => {
  it("writes read-only files, and tells what there is", async () => {
    await mkdir(path.join(folder, "out"));
    const unpacked = await into(stream(entry("a/index.js", "one\ntwo"), entry("a/b/empty", "")));
    expect(unpacked).toEqual({ packages: [{ name: "a", version: "1.0.0" }], files: 2, bytes: 7 });
    expect(await readFile(path.join(folder, "out/a/index.js"), "utf8")).toBe("one\ntwo");
    expect((await stat(path.join(folder, "out/a/b/empty"))).mode & 0o777).toBe(0o444);
  });

  it.each(["../x", "/x", "a/../../x", "a\\..\\x", "C:/x", "a/\0", ""])("refuses path %j", async (name) => {
    await expect(into(stream(entry(name, "x")))).rejects.toThrow(/path/);
    expect(await readdir(folder)).toEqual([]);
  });

  it("writes no file twice", async () => {
    await expect(into(stream(entry("a", "1"), entry("a", "2")))).rejects.toThrow("EEXIST");
  });

  it.each([
    ["too few files", `{"packages":[]}\n${entry("a", "x")}{"files":2}\n`, "files are missing"],
    ["a cut file", `{"packages":[]}\n{"path":"a","size":10}\nabc`, "ended too early"],
    ["no end", `{"packages":[]}\n${entry("a", "x")}`, "ended too early"],
    ["a negative size", '{"packages":[]}\n{"path":"a","size":-1}\n', "no entry"],
    ["no packages", '{"packages":7}\n', "no packages"],
    ["a package without version", '{"packages":[["a"]]}\n{"files":0}\n', "no package"],
    ["a long line", `{"packages":[]}\n{"path":"${"a".repeat(9000)}","size":0}\n`, "too long"],
    ["too many bytes", '{"packages":[]}\n{"path":"a","size":1000001}\n', "more than 1000000 bytes"],
    ["no JSON", "hello\n", "JSON"],
  ])("refuses %s", async (_, text, words) => {
    await expect(into(text)).rejects.toThrow(words);
  });
});

describe("packers", () => {
  const runFile = promisify(execFile);
  const packer = (name: string): Promise<string> =>
    readFile(new URL(`../../images/packers/${name}`, import.meta.url), "utf8");

  beforeEach(async () => {
    const root = path.join(folder, "in");
    await mkdir(path.join(root, "@s/p"), { recursive: true });
    await mkdir(path.join(root, "m-2.0.dist-info"));
    await writeFile(path.join(root, "@s/p/package.json"), '{"version":"1.2.3"}');
    await writeFile(path.join(root, "m-2.0.dist-info/METADATA"), "Metadata-Version: 2.1\nName: m\nVersion: 2.0\n");
    await writeFile(path.join(root, "tool"), "x", { mode: 0o755 });
    await symlink("tool", path.join(root, "link"));
    await symlink("/etc/passwd", path.join(root, "leads-out"));
    await symlink(".", path.join(root, "loop"));
  });

  it.each([
    ["packer.cjs", "@s/p", "1.2.3"],
    ["packer.py", "m", "2.0"],
  ])("%s sends packages, files and no link", async (file, name, version) => {
    const root = path.join(folder, "in");
    const command = file.endsWith(".py") ? ["python3", "-I", "-c"] : [process.execPath, "-e"];
    const [program = "", ...args] = [...command, await packer(file), root, ...(file.endsWith(".py") ? ["/shown"] : [])];
    const { stdout } = await runFile(program, args, { encoding: "buffer" });
    const unpacked = await unpack(pieces(stdout, 50), path.join(folder, "out"), limits);
    expect(unpacked.packages).toEqual([{ name, version }]);
    const out = path.join(folder, "out");
    expect((await readdir(out)).toSorted()).toEqual(["@s", "link", "m-2.0.dist-info", "tool"]);
    expect(await readFile(path.join(out, "link"), "utf8")).toBe("x");
    expect((await stat(path.join(out, "tool"))).mode & 0o777).toBe(0o555);
  });
});
