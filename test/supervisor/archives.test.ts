import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { operate, type Operation, type OperationEnd } from "../helpers/supervisor/operations.ts";
import { Supervised } from "../helpers/supervisor/supervised.ts";
import { paxRecord, tarEnd, tarMember, tarOf, type Member } from "../helpers/supervisor/tar.ts";

const reason = whyNoSupervisor();
const folder = "/tmp/work";

describe.skipIf(reason !== undefined)(`archives ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(async () => {
    subject = await Supervised.start({
      ...{
        binary: sanitizedSupervisor(),
        mounts: ["--size", "8388608", "--tmpfs", "/tmp/small", "--chmod", "1777", "/tmp/small"],
      },
    });
    await sh("true");
  }, 180_000);
  afterAll(async () => subject[Symbol.asyncDispose]());
  beforeEach(async () => {
    await sh(
      `rm -rf ${folder}; mkdir -p ${folder}/into; echo secret > ${folder}/secret; echo old > ${folder}/into/old`,
    );
  });

  const sh = async (script: string): Promise<string> => {
    const { stdout, stderr, code } = await subject.run({ command: ["sh", "-c", script] });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const unpack = (archive: Uint8Array, options: Partial<Operation> = {}): Promise<OperationEnd> =>
    operate(subject, { verb: "UNPACK", folder, path: "into", ...options }, archive);
  /** What stands in the folder: kind, mode, size of files, name, target. */
  const found = (where = "into"): Promise<string> =>
    sh(`cd ${folder}/${where}; find . -mindepth 1 -printf '%y %m %P %l\\n' | LC_ALL=C sort -k3`);

  it("of the system's tar are unpacked, and what is packed can be read by it", async () => {
    const long = "n".repeat(150);
    await sh(`cd ${folder}; mkdir -p tree/sub/${long}/${long} tree/empty; cd tree; chmod 751 sub; chmod 700 empty
      echo one > file; chmod 600 file; ln -s ../secret link; ln -s ${"t".repeat(200)} long-link; echo two > sub/${long}/${long}/deep
      ln file hard; printf %s "$(head -c 70000 /dev/zero | tr '\\0' x)" > big; mkfifo fifo; : > zero`);
    const expected = await found("tree");
    const { output, reason: end } = await operate(subject, { verb: "PACK", folder, path: "tree" });
    expect(end).toBe("DONE");
    const host = mkdtempSync(join(tmpdir(), "glovebox-tar-"));
    try {
      const listed = spawnSync("tar", ["-tf", "-"], { input: output, encoding: "utf8" });
      expect([listed.status, listed.stderr]).toEqual([0, ""]);
      expect(listed.stdout).toContain(`\nsub/${long}/${long}/deep\n`);
      spawnSync("tar", ["-xpf", "-", "-C", host], { input: output });
      // ustar has no room for such names.
      for (const format of ["gnu", "pax"]) {
        const made = spawnSync("tar", ["-c", `--format=${format}`, "-C", host, "."], { maxBuffer: 10_000_000 });
        await sh(`rm -rf ${folder}/into; mkdir ${folder}/into`);
        expect(await unpack(made.stdout)).toMatchObject({ reason: "DONE" });
        expect(await found()).toBe(expected);
      }
      expect(await unpack(output, { path: "again/and/again", flags: ["PARENTS"] })).toMatchObject({ reason: "DONE" });
      expect(await found("again/and/again")).toBe(expected);
      expect(
        await sh(`cmp ${folder}/tree/big ${folder}/again/and/again/big; cat ${folder}/again/and/again/sub/*/*/deep`),
      ).toBe("two\n");
    } finally {
      rmSync(host, { recursive: true, force: true });
    }
  });

  it("have a file's further names as links to the first, and tell what could not be read after everything else", async () => {
    await sh(
      `cd ${folder}; mkdir tree; cd tree; echo 1 > a; ln a b; mkdir c; ln a c/d; echo 2 > e; chmod 0 e; echo 3 > f`,
    );
    const { output, ...end } = await operate(subject, { verb: "PACK", folder, path: "tree" });
    expect(end).toMatchObject({ reason: "FAILED", stage: "OPEN", errno: 13 });
    const listed = spawnSync("tar", ["-tvf", "-"], { input: output, encoding: "utf8" });
    expect([listed.status, listed.stderr]).toEqual([0, ""]);
    expect(listed.stdout.match(/^h.* link to /gm)).toHaveLength(2);
    expect(listed.stdout.match(/ f$/gm)).toHaveLength(1);
    await sh(`rm ${folder}/tree/e`);
    const whole = await operate(subject, { verb: "PACK", folder, path: "tree" });
    expect(await unpack(whole.output)).toMatchObject({ reason: "DONE" });
    expect(await sh(`cd ${folder}/into; stat -c %h a b c/d f; cat a b c/d f`)).toBe("3\n3\n3\n1\n1\n1\n1\n3\n");
  });

  it("that replace do so in one step, and clear what stands in the way without following it", async () => {
    await sh(`cd ${folder}; mkdir elsewhere into/dir; echo mine > elsewhere/kept; echo x > into/dir/x
      ln -s ../elsewhere into/way; ln -s ../secret into/link; echo file > into/file; exec 9< into/old; : > before`);
    const end = await unpack(
      tarOf(
        { name: "way/new", content: "1" },
        { name: "link", content: "2" },
        { name: "dir", content: "3" },
        { name: "file", type: "5", mode: "0000755" },
        { name: "file/below", content: "4" },
        { name: "old", type: "2", target: "file" },
      ),
      { flags: ["REPLACE"] },
    );
    expect(end).toMatchObject({ reason: "DONE" });
    expect(await found()).toBe(
      "f 644 dir \nd 755 file \nf 644 file/below \nf 644 link \nl 777 old file\nd 755 way \nf 644 way/new \n",
    );
    expect(await sh(`cd ${folder}; cat secret elsewhere/kept; ls elsewhere; ls -A | grep glove || true`)).toBe(
      "secret\nmine\nkept\n",
    );
    // The folder itself may have become a link; and what fails leaves the old file and nothing else.
    await sh(`cd ${folder}; rm -rf into; ln -s elsewhere into`);
    const cut = tarOf({ name: "kept", content: "new" }).subarray(0, 700);
    expect(await unpack(cut, { flags: ["REPLACE"] })).toMatchObject({ reason: "FAILED" });
    expect(await sh(`cd ${folder}; cat elsewhere/kept; ls -A into; ls -A | grep glove || true`)).toBe("mine\n");
  });

  it("that are restored clear what stands in the way too, whole folders, and follow nothing", async () => {
    await sh(`cd ${folder}; mkdir elsewhere2 into/dir into/dir/deep; echo mine > elsewhere2/kept; echo x > into/dir/deep/x
      ln -s ../elsewhere2 into/way; ln -s ../elsewhere2 into/dir/out; echo file > into/file`);
    const archive = tarOf(
      { name: "way/new", content: "1" },
      { name: "dir", content: "3" },
      { name: "file", type: "5", mode: "0000755" },
      { name: "file/below", content: "4" },
    );
    expect(await unpack(archive)).toMatchObject({ reason: "FAILED" });
    expect(await unpack(archive, { flags: ["TREE"] })).toMatchObject({ reason: "DONE" });
    expect(await found()).toBe("f 644 dir \nd 755 file \nf 644 file/below \nf 644 old \nd 755 way \nf 644 way/new \n");
    expect(await sh(`cd ${folder}; cat elsewhere2/kept; ls elsewhere2`)).toBe("mine\nkept\n");
  });

  it("of one file or link have it alone, by its last name", async () => {
    await sh(`cd ${folder}/into; mkdir a; echo x > a/file; ln -s file a/link`);
    for (const path of ["into/a/file", "into/a/link"]) {
      const { output } = await operate(subject, { verb: "PACK", folder, path });
      expect(spawnSync("tar", ["-tf", "-"], { input: output, encoding: "utf8" }).stdout).toBe(`${path.slice(7)}\n`);
    }
  });

  it("replace files, keep folders, and drop the bits that give a user's rights away", async () => {
    await sh(`cd ${folder}/into; mkdir kept; echo stays > kept/inside; ln -s /etc/passwd link`);
    const end = await unpack(
      tarOf(
        { name: "old", content: "new", mode: "0006755" },
        { name: "kept/", type: "5", mode: "0001777" },
        { name: "link", content: "no longer one" },
        { name: "./dotted//name", content: "fine" },
        { name: "folder", type: "5", mode: "0007755" },
      ),
    );
    expect(end).toMatchObject({ reason: "DONE", entries: 5 });
    expect(await found()).toBe(
      "d 755 dotted \nf 644 dotted/name \nd 755 folder \nd 755 kept \nf 644 kept/inside \nf 644 link \nf 755 old \n",
    );
  });

  const file = (name: string | Buffer, more: Partial<Member> = {}): Member => ({ name, content: "planted", ...more });
  const link = (name: string, target: string, type = "2"): Member => ({ name, type, target });
  const pax = (records: Buffer, type = "x"): Member => ({ name: "pax", type, content: records });
  const base256 = (first: number, rest: number): Buffer =>
    Buffer.from([first, ...Array.from({ length: 11 }, () => rest)]);

  it.each([
    ["a name that leads up", tarOf(file("../planted"))],
    ["a name that leads up later", tarOf(file("a/../../planted"))],
    ["a name that is up", tarOf(file(".."))],
    ["an absolute name", tarOf(file("/tmp/planted"))],
    ["an absolute name behind a dot", tarOf(file(".//../planted"))],
    ["an empty name", tarOf(file(""))],
    ["the folder itself as a file", tarOf(file("./"))],
    ["a prefix that leads up", tarOf(file("planted", { prefix: ".." }))],
    ["a pax name that leads up", tarOf(pax(paxRecord("path", "../planted")), file("x"))],
    ["a pax name with a NUL", tarOf(pax(paxRecord("path", "a\0/../b")), file("x"))],
    ["a GNU name that leads up", tarOf({ name: "././@LongLink", type: "L", content: "../planted\0" }, file("x"))],
    ["a link, and a file through it", tarOf(link("way", ".."), file("way/planted"))],
    ["an absolute link, and a file through it", tarOf(link("way", folder), file("way/planted"))],
    ["a link to a folder, and that folder", tarOf(link("way", ".."), { name: "way", type: "5" }, file("way/planted"))],
    ["a link, and a hard link through it", tarOf(link("way", ".."), link("mine", "way/secret", "1"))],
    ["a hard link that leads up", tarOf(link("mine", "../secret", "1"))],
    ["an absolute hard link", tarOf(link("mine", "/etc/passwd", "1"))],
    ["a hard link to nothing", tarOf(link("mine", "missing", "1"))],
    ["a character device", tarOf({ name: "device", type: "3" })],
    ["a block device", tarOf({ name: "device", type: "4" })],
    ["a sparse file", tarOf({ name: "sparse", type: "S" })],
    ["an unknown type", tarOf({ name: "x", type: "!" })],
    ["a wrong checksum", tarOf(file("x", { isBroken: true }))],
    ["no checksum", Buffer.concat([Buffer.alloc(100, "x"), Buffer.alloc(412), tarEnd])],
    ["nothing at all", Buffer.alloc(0)],
    ["half a header", tarOf(file("x")).subarray(0, 300)],
    ["half a file", tarOf(file("x", { content: Buffer.alloc(5000) })).subarray(0, 3000)],
    ["no end", tarMember(file("x"))],
    ["a size that is no number", tarOf(file("x", { size: "1x" }))],
    ["a size of 8 GiB", tarOf(file("x", { size: "77777777777" }))],
    ["a size of 16 EiB", tarOf(file("x", { size: base256(0xff, 0xff) }))],
    ["a size of minus one as a pax record", tarOf(pax(paxRecord("size", "-1")), file("x"))],
    ["a size beyond all numbers", tarOf(pax(paxRecord("size", "9".repeat(40))), file("x"))],
    ["a folder of 16 EiB", tarOf({ name: "x", type: "5", size: base256(0xff, 0xff) })],
    ["a pax record longer than its header", tarOf(pax(Buffer.from("99 path=x\n")), file("x"))],
    ["a pax record shorter than its name", tarOf(pax(Buffer.from("5 path=x\n")), file("x"))],
    ["a pax record without a length", tarOf(pax(Buffer.from("path=x\n")), file("x"))],
    ["a pax record of zeros", tarOf(pax(Buffer.from("0000000000000005 path=x\n")), file("x"))],
    ["a pax record without an end", tarOf(pax(Buffer.from("9 path=xx")), file("x"))],
    ["a pax record without a name", tarOf(pax(Buffer.from("7 abcd\n")), file("x"))],
    ["a pax header of a megabyte", tarOf(pax(Buffer.alloc(1_000_000, "x")), file("x"))],
    ["a pax name of 5,000 bytes", tarOf(pax(paxRecord("path", "x/".repeat(2500))), file("x"))],
    ["a component of 300 bytes", tarOf(pax(paxRecord("path", "x".repeat(300))), file("x"))],
    ["a GNU name of 5,000 bytes", tarOf({ name: "long", type: "L", content: "x".repeat(5000) }, file("x"))],
    ["a file where a folder is", tarOf({ name: "d", type: "5" }, file("d"))],
    ["a folder where a file is", tarOf(file("d"), { name: "d", type: "5" })],
    ["a file beneath a file", tarOf(file("d"), file("d/x"))],
    ["a link where a folder is", tarOf({ name: "d", type: "5" }, link("d", "x"))],
    ["more entries than are allowed", tarOf(...Array.from({ length: 60 }, (_, at) => file(`many/${at}`)))],
    [
      "more bytes than are allowed",
      tarOf(...[1, 2, 3].map((at) => file(`big${at}`, { content: Buffer.alloc(50_000) }))),
    ],
  ])("with %s fail, and reach nothing beside their folder", async (_, archive) => {
    const end = await unpack(archive, { maxEntries: 50, maxBytes: 120_000 });
    expect(end).toMatchObject({ reason: "FAILED" });
    expect(["ARCHIVE", "ENTRIES", "OPEN", "PATH", "WRITE"]).toContain(end.stage);
    expect(
      await sh(
        `cd ${folder}; ls; cat secret; cat into/old; find . -name planted; find / -xdev -name planted 2>/dev/null; true`,
      ),
    ).toBe("into\nsecret\nsecret\nold\n");
    const { output } = await operate(subject, { verb: "READ", folder, path: "secret" });
    expect(output.toString()).toBe("secret\n");
  });

  it("with anything behind their end are read to the end", async () => {
    const archive = Buffer.concat([tarOf(file("x")), Buffer.alloc(300_000, "rest")]);
    expect(await unpack(archive)).toMatchObject({ reason: "DONE", entries: 1 });
  });

  it("that do not fit where they go say so, and room can be made again", async () => {
    const archive = tarOf(
      ...Array.from({ length: 12 }, (_, at) => file(`f${at}`, { content: Buffer.alloc(1_000_000, "x") })),
    );
    const full = { verb: "UNPACK", folder: "/tmp/small", path: "" } as const;
    const end = await operate(subject, full, archive);
    expect(end).toMatchObject({ reason: "FAILED", errno: 28 });
    expect(
      await operate(subject, { verb: "WRITE", folder: "/tmp/small", path: "one-more" }, "x".repeat(600_000)),
    ).toMatchObject({
      ...{ reason: "FAILED", errno: 28 },
    });
    expect((await subject.run({ command: ["sh", "-c", "echo alive"] })).stdout).toBe("alive\n");
    for (let at = 0; at < 8; at++) {
      expect(await operate(subject, { verb: "REMOVE", folder: "/tmp/small", path: `f${at}` })).toMatchObject({
        entries: 1,
      });
    }
  });
});
