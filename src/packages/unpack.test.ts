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

const limits = { ecosystem: "npm", maxEntries: 100, maxDepth: 8, maxBytes: 1_000_000 } as const;

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

/** So many texts. */
const many = (count: number, make: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => make(index));

const into = (text: string): Promise<Unpacked> => unpack(pieces(text), path.join(folder, "out"), limits);

describe("unpack", () => {
  it("writes read-only files, and tells what there is", async () => {
    await mkdir(path.join(folder, "out"));
    const unpacked = await into(stream(entry("a/index.js", "one\ntwo"), entry("a/b/empty", "")));
    const packages = [{ name: "a", version: "1.0.0" }];
    expect(unpacked).toEqual({ packages, files: 2, folders: 2, bytes: 4 * 4096 });
    expect(await readFile(path.join(folder, "out/a/index.js"), "utf8")).toBe("one\ntwo");
    expect((await stat(path.join(folder, "out/a/b/empty"))).mode & 0o777).toBe(0o444);
  });

  it.each(["../x", "/x", "a/../../x", "a\\..\\x", "C:/x", "a/\0", ""])("refuses path %j", async (name) => {
    await expect(into(stream(entry(name, "x")))).rejects.toThrow(/path/);
    expect(await readdir(folder)).toEqual([]);
  });

  it("counts what an empty file costs, and each folder once", async () => {
    await mkdir(path.join(folder, "out"));
    const files = ["a/b/1", "a/b/2", "a/c/1", "a/b/3", "d"].map((name) => entry(name, ""));
    expect(await into(stream(...files))).toMatchObject({ files: 5, folders: 3, bytes: 8 * 4096 });
  });

  it("leaves out what Python would run at every start, at the top and of Python only", async () => {
    const sent = ["a.pth", "sitecustomize.py", "usercustomize/__init__.py", "a/sitecustomize.py", "a/b.pth", "b.py"];
    const text = stream(...sent.map((name) => entry(name, "x")));
    for (const [ecosystem, kept] of [
      ["python", ["a", "b.py"]],
      ["npm", ["a", "a.pth", "b.py", "sitecustomize.py", "usercustomize"]],
    ] as const) {
      const out = path.join(folder, ecosystem);
      await mkdir(out);
      await unpack(pieces(text), out, { ...limits, ecosystem });
      expect((await readdir(out)).toSorted()).toEqual(kept);
      expect((await readdir(path.join(out, "a"))).toSorted()).toEqual(["b.pth", "sitecustomize.py"]);
    }
  });

  it.each(["\\u001b[2J", "a\\nb", "a b", "", "\\u202ea", "a/b/c", "a".repeat(215)])(
    "refuses %j as a name or a version",
    async (text) => {
      for (const each of [`["${text}","1.0.0"]`, `["a","${text.repeat(2)}"]`]) {
        expect(await into(`{"packages":[${each}]}\n{"files":0}\n`).catch(String)).toEqual(
          expect.stringMatching(/is none/),
        );
      }
    },
  );

  it("writes no file twice", async () => {
    await expect(into(stream(entry("a", "1"), entry("a", "2")))).rejects.toThrow("EEXIST");
  });

  it.each([
    ["too few files", `{"packages":[]}\n${entry("a", "x")}{"files":2}\n`, "files are missing"],
    ["a cut file", `{"packages":[]}\n{"path":"a","size":10}\nabc`, "ended too early"],
    ["no end", `{"packages":[]}\n${entry("a", "x")}`, "ended too early"],
    ["a negative size", '{"packages":[]}\n{"path":"a","size":-1}\n', "no entry"],
    ["no packages", '{"packages":7}\n', "no packages"],
    ["a package without version", '{"packages":[["a"]]}\n{"files":0}\n', "version of a is none"],
    ["a long line", `{"packages":[]}\n{"path":"${"a".repeat(9000)}","size":0}\n`, "too long"],
    ["too many bytes", '{"packages":[]}\n{"path":"a","size":1000001}\n', "more than 1000000 bytes"],
    ["too many entries", stream(...many(101, (n) => entry(`f${n}`, ""))), "more than 100 files and folders"],
    ["too many folders", stream(...many(60, (n) => entry(`d${n}/f`, ""))), "more than 100 files and folders"],
    ["too deep folders", stream(entry("1/2/3/4/5/6/7/8/9", "")), "folders more than 8 deep"],
    ["no JSON", "hello\n", "JSON"],
  ])("refuses %s", async (_, text, words) => {
    expect(await into(text).catch(String)).toContain(words);
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
    const unpacked = await unpack(pieces(stdout, 50), path.join(folder, "out"), {
      ...limits,
      ecosystem: file.endsWith(".py") ? "python" : "npm",
    });
    expect(unpacked.packages).toEqual([{ name, version }]);
    const out = path.join(folder, "out");
    expect((await readdir(out)).toSorted()).toEqual(["@s", "link", "m-2.0.dist-info", "tool"]);
    expect(await readFile(path.join(out, "link"), "utf8")).toBe("x");
    expect((await stat(path.join(out, "tool"))).mode & 0o777).toBe(0o555);
  });
});
