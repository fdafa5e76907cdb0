import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useOwnedSandbox } from "../helpers/owned-sandbox.ts";
import { testedOwners } from "../helpers/owner-table.ts";
import type { CommandResult } from "../helpers/run-command.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  mkdirSync(at("outside"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const copied = { exitCode: 0, stdout: "", stderr: "" };

describe.each(testedOwners)("glovebox cp with $name", (owner) => {
  const { current } = useOwnedSandbox(owner);
  const cp = (...argv: string[]): Promise<CommandResult> => current().glovebox(["cp", ...argv], { cwd: folder });
  const inside = (name: string): string => `${current().id}:${owner.folder}/${name}`;
  const sh = (line: string): Promise<CommandResult> => current().glovebox(["exec", current().id, "sh", "-c", line]);

  it("copies a folder there and back, whatever its names and contents are", async () => {
    mkdirSync(at("tree/sub"), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(at("tree/sub/data"), bytes, { mode: 0o750 });
    writeFileSync(at("tree/line\nbreak"), "");
    writeFileSync(at("tree/-rf 日本"), "x");
    symlinkSync("sub/data", at("tree/link"));
    expect(await cp("tree", inside("there"))).toMatchObject(copied);
    expect(await cp(inside("there"), "back")).toMatchObject(copied);
    expect(readdirSync(at("back")).toSorted()).toEqual(["-rf 日本", "line\nbreak", "link", "sub"]);
    expect(readFileSync(at("back/sub/data")).equals(bytes)).toBe(true);
    expect(lstatSync(at("back/sub/data")).mode & 0o777).toBe(0o750);
    expect(readlinkSync(at("back/link"))).toBe("sub/data");
  });

  it("puts things where the engines' own cp does", async () => {
    mkdirSync(at("tree"));
    writeFileSync(at("tree/f"), "f");
    writeFileSync(at("file"), "file");
    await sh("rm -rf p; mkdir p");
    expect(await cp("tree", inside("p"))).toMatchObject(copied);
    expect(await cp("file", inside("p/"))).toMatchObject(copied);
    expect(await cp("file", inside("p/named"))).toMatchObject(copied);
    expect(await cp("tree/.", inside("p/tree"))).toMatchObject(copied);
    expect((await sh("cd p && find . -type f | sort")).stdout).toBe("./file\n./named\n./tree/f\n");
    mkdirSync(at("out"));
    expect(await cp(inside("p"), "out")).toMatchObject(copied);
    expect(await cp(inside("p/."), "out")).toMatchObject(copied);
    expect(await cp(inside("p/file"), "out/again")).toMatchObject(copied);
    expect(readdirSync(at("out")).toSorted()).toEqual(["again", "file", "named", "p", "tree"]);
    // A folder cannot replace a file, on either side.
    expect((await cp(inside("p"), "file")).exitCode).toBe(2);
    expect((await cp("tree", inside("p/file"))).exitCode).toBe(2);
    expect((await cp("file", inside("none/"))).exitCode).toBe(2);
  });

  it("says what is missing or wrong", async () => {
    expect((await cp("none", inside("x"))).stderr).toContain("does not exist on this machine");
    expect((await cp(inside("none"), "x")).stderr).toContain("does not exist in the sandbox");
    expect((await cp("a", "b")).stderr).toContain("exactly one of them");
    expect((await cp(inside("x"), inside("y"))).exitCode).toBe(2);
    expect((await cp("sbx-nothing:/x", "x")).stderr).toContain(current().id);
  });

  it("writes nothing outside the target, whatever the sandbox has done to its files", async () => {
    const lines = [
      "rm -rf h; mkdir -p h/real && cd h",
      `ln -s ${at("outside")} x`,
      "ln -s ../../../outside up && ln -s /etc/passwd passwd && ln -s real inner",
      "printf evil > real/evil && ln real/evil second && chmod 2777 real/evil",
      "mkfifo pipe",
      "printf n > 'new\nline' && printf d > ..dots",
    ];
    expect((await sh(lines.join("; "))).stderr).toBe("");
    const result = await cp(inside("h"), "got");
    expect(result.exitCode).toBe(0);
    for (const [name, left] of [
      ["x", "got/x"],
      ["up", "got/up"],
      ["passwd", "got/passwd"],
      ["pipe", "pipe"],
    ] as const) {
      expect(result.stderr).toContain(left);
      expect(existsSync(at("got", name))).toBe(false);
    }
    expect(readdirSync(at("got")).toSorted()).toEqual(["..dots", "inner", "new\nline", "real", "second"]);
    writeFileSync(at("own"), "", { mode: 0o777 });
    expect(lstatSync(at("got/real/evil")).mode).toBe(lstatSync(at("own")).mode);
    // If the target already contains links, nothing is written through them.
    mkdirSync(at("got2"));
    symlinkSync(at("outside"), at("got2/real"));
    const refused = await cp(inside("h/."), "got2");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("not followed");
    expect(readdirSync(at("outside"))).toEqual([]);
  });

  it("copies no more than it may", async () => {
    await sh("rm -rf big; mkdir big; cd big; head -c 3000000 /dev/zero > a; truncate -s 50M sparse; touch b c");
    const large = await cp("--max-size", "2m", inside("big"), "large");
    expect(large.exitCode).toBe(125);
    expect(large.stderr).toContain("--max-size");
    const many = await cp("--max-entries", "2", inside("big"), "many");
    expect(many.stderr).toContain("--max-entries");
    writeFileSync(at("mine"), Buffer.alloc(3_000_000));
    expect((await cp("--max-size", "2m", "mine", inside("mine"))).exitCode).toBe(125);
  });
});
