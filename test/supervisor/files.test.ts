import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import {
  beginOperation,
  entriesOf,
  operate,
  operationEnd,
  sendInput,
  type Operation,
  type OperationEnd,
} from "../helpers/supervisor/operations.ts";
import { flags, Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";
const inside = "/tmp/work/inside";

/** What programs of the sandbox make before each test: a folder of theirs, and a secret that is not beneath it. */
const scene = `
chmod -fR u+rwx /tmp/work || true; rm -rf /tmp/work; mkdir -p ${inside}/folder /tmp/work/outside; cd ${inside}
echo secret > /tmp/work/outside/secret; echo kept > folder/file; printf 0123456789 > digits; chmod 640 digits
ln -s /tmp/work/outside/secret absolute; ln -s ../outside/secret relative; ln -s ../outside out; ln -s folder in; ln -s nowhere dangling
mkfifo fifo`;

describe.each([
  ["by openat2", []],
  ["component by component", ["no-openat2"]],
] as const)("files %s", (_, lacks) => {
  describe.skipIf(reason !== undefined)(`in a sandbox ${reason ?? ""}`, () => {
    let subject: Supervised;
    const host = mkdtempSync(join(tmpdir(), "glovebox-files-"));
    beforeAll(async () => {
      chmodSync(host, 0o777);
      subject = await Supervised.start({
        ...{ binary: sanitizedSupervisor(), lacks },
        mounts: ["--ro-bind", hostileProgram(), hostile, "--bind", host, "/tmp/host"],
      });
    }, 180_000);
    afterAll(async () => {
      await subject[Symbol.asyncDispose]();
      rmSync(host, { recursive: true, force: true });
    });

    const sh = async (script: string): Promise<string> => {
      const { stdout, stderr, code } = await subject.run({ command: ["sh", "-c", script] });
      expect([code, stderr]).toEqual([0, ""]);
      return stdout;
    };
    const act = (operation: Partial<Operation> & Pick<Operation, "verb">, input?: string): Promise<OperationEnd> =>
      operate(subject, { folder: inside, ...operation }, input);

    it("are looked at, listed, read, written, moved, removed, and their modes changed", async () => {
      await sh(scene);
      expect(await act({ verb: "READ", path: "digits", offset: 3, maxBytes: 4 })).toMatchObject({
        ...{ reason: "DONE", bytes: 4, output: Buffer.from("3456") },
      });
      expect(entriesOf((await act({ verb: "LOOK", path: "digits" })).output)).toMatchObject([
        { kind: "f", name: "digits", mode: 0o640, size: 10 },
      ]);
      const listed = entriesOf((await act({ verb: "LIST" })).output);
      expect(listed.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual(
        ["d folder", "f digits", "l absolute", "l dangling", "l in", "l out", "l relative", "p fifo"].toSorted(),
      );
      expect(listed.find(({ name }) => name === "relative")?.target).toBe("../outside/secret");
      expect(await act({ verb: "WRITE", path: "digits", mode: 0o600 }, "new")).toMatchObject({ reason: "DONE" });
      await act({ verb: "WRITE", path: "digits", flags: ["APPEND"] }, "er");
      await act({ verb: "WRITE", path: "a/b/c", flags: ["PARENTS"], mode: 0o751 }, "deep");
      expect(await act({ verb: "MAKE", path: "a/d", mode: 0o7710 })).toMatchObject({ reason: "DONE" });
      await act({ verb: "MOVE", path: "a/b", other: "a/d/moved" });
      await act({ verb: "CHMOD", path: "a/d/moved/c", mode: 0o400 });
      // An old file keeps its mode.
      const found = await sh(`cd ${inside}; cat digits; stat -c '%a %n' digits a/d a/d/moved/c; cat a/d/moved/c`);
      expect(found).toBe("newer640 digits\n1710 a/d\n400 a/d/moved/c\ndeep");
      expect(await act({ verb: "REMOVE", path: "a", flags: ["TREE"] })).toMatchObject({ reason: "DONE", entries: 4 });
      expect(await act({ verb: "LOOK", path: "a" })).toMatchObject({ reason: "FAILED", errno: 2 });
    });

    it.each([
      [{ verb: "READ", path: "missing" }, "OPEN", 2],
      [{ verb: "READ", path: "missing/file" }, "PATH", 2],
      [{ verb: "READ", path: "folder" }, "OPEN", 21],
      [{ verb: "READ", path: "digits/file" }, "PATH", 20],
      [{ verb: "WRITE", path: "folder" }, "OPEN", 21],
      [{ verb: "WRITE", path: "digits", flags: ["EXCLUSIVE"] }, "OPEN", 17],
      [{ verb: "WRITE", path: "no/folder" }, "PATH", 2],
      [{ verb: "WRITE", path: "big", maxBytes: 2 }, "ENTRIES", 27],
      [{ verb: "MAKE", path: "folder" }, "OPEN", 17],
      [{ verb: "MOVE", path: "digits", other: "folder/file", flags: ["EXCLUSIVE"] }, "WRITE", 17],
      [{ verb: "REMOVE", path: "folder" }, "WRITE", 39],
      [{ verb: "REMOVE", path: "missing" }, "PATH", 2],
      [{ verb: "REMOVE" }, "PATH", 22],
      [{ verb: "LIST", path: "digits" }, "OPEN", 20],
      [{ verb: "LIST", maxEntries: 3 }, "ENTRIES", 27],
      [{ verb: "PACK", maxEntries: 3 }, "ENTRIES", 27],
      [{ verb: "PACK", path: "digits", maxBytes: 9 }, "ENTRIES", 27],
      [{ verb: "PACK", path: "missing" }, "OPEN", 2],
      [{ verb: "UNPACK", path: "missing" }, "OPEN", 2],
      [{ verb: "LIST", folder: "/no/such" }, "FOLDER", 2],
      [{ verb: "LIST", folder: `${inside}/digits` }, "FOLDER", 20],
      [{ verb: "LIST", user: 0 }, "USER", 1],
    ] as const)("%o fails with its reason", async (operation, stage, errno) => {
      await sh(scene);
      const input = ["WRITE", "UNPACK"].includes(operation.verb) ? "text" : undefined;
      expect(await act(operation as Operation, input)).toMatchObject({ reason: "FAILED", stage, errno });
      expect(await sh(`ls -A ${inside} | grep -c . ; cat ${inside}/digits`)).toBe("8\n0123456789");
    });

    it("are never reached through a link, the last component included", async () => {
      await sh(scene);
      const outcomes: string[] = [];
      for (const path of ["absolute", "relative", "out/secret", "out", "in", "in/file", "dangling"]) {
        for (const verb of ["READ", "LIST", "CHMOD", "UNPACK"]) {
          const end = await act({ verb, path, mode: 0o777 }, verb === "UNPACK" ? "" : undefined);
          outcomes.push(`${verb} ${path}: ${end.reason} ${[20, 40].includes(end.errno)} ${end.output.length}`);
        }
        const flag = path.includes("/") ? "under" : "self";
        const written = await act({ verb: "WRITE", path: `${path}/new` }, "x");
        outcomes.push(`WRITE ${flag}: ${written.reason} ${[20, 40].includes(written.errno)}`);
      }
      expect(outcomes.filter((line) => !/FAILED true/.test(line))).toEqual([]);
      // A link itself is looked at, moved and removed.
      expect(entriesOf((await act({ verb: "LOOK", path: "relative" })).output)).toMatchObject([{ kind: "l" }]);
      expect(await act({ verb: "WRITE", path: "relative" }, "mine")).toMatchObject({ reason: "FAILED", errno: 40 });
      expect(await act({ verb: "REMOVE", path: "out", flags: ["TREE"] })).toMatchObject({ reason: "DONE", entries: 1 });
      expect(await sh("cat /tmp/work/outside/secret; stat -c %a /tmp/work/outside/secret; ls /tmp/work/outside")).toBe(
        "secret\n644\nsecret\n",
      );
    });

    it("are reached through a link at the end of the path where that is asked for, as programs reach them", async () => {
      await sh(
        `${scene}; ln -s relative chain; ln -s loop loop; ln -s . here; ln -s fifo to-fifo; ln -s folder/ slash`,
      );
      const followed = { flags: ["FOLLOW"] } as const;
      for (const path of ["absolute", "relative", "chain"]) {
        expect((await act({ verb: "READ", path, ...followed })).output.toString()).toBe("secret\n");
      }
      expect(await act({ verb: "WRITE", path: "chain", ...followed }, "through")).toMatchObject({ reason: "DONE" });
      expect(await act({ verb: "WRITE", path: "dangling", ...followed }, "made")).toMatchObject({ reason: "DONE" });
      for (const [path, errno] of [
        ...([
          ["loop", 40],
          ["here", 21],
          ["in", 21],
          ["slash", 21],
          ["to-fifo", 22],
          ["out/secret", 20],
        ] as const),
      ] as const) {
        const { errno: found } = await act({ verb: "READ", path, ...followed });
        expect([path, [errno, errno === 20 ? 40 : errno]]).toEqual([path, expect.arrayContaining([found])]);
        expect(await act({ verb: "WRITE", path, ...followed }, "x")).toMatchObject({ reason: "FAILED" });
      }
      expect(await sh(`cd ${inside}; cat nowhere /tmp/work/outside/secret; readlink chain relative dangling`)).toBe(
        "madethroughrelative\n../outside/secret\nnowhere\n",
      );
      // What a magic link says is text, and nothing else is behind it.
      for (const path of ["self/fd/0", "self/fd/1", "self/fd/3", "self/cwd", "self/root", "self/mem"]) {
        const [name = "", ...above] = path.split("/").toReversed();
        const end = await act({ verb: "READ", folder: `/proc/${above.join("/")}`, path: name, ...followed });
        expect([path, end.output.includes("secret") || end.output.length > 0]).toEqual([path, false]);
      }
    });

    it("are listed with all that is below, so many levels deep, and as far as they may be looked into", async () => {
      await sh(
        `${scene}; mkdir -p folder/a/b shut; echo x > shut/file; chmod 0 shut; : > folder/a/b/"$(printf 'c\\377')"`,
      );
      const names = async (offset: number, more: Partial<Operation> = {}): Promise<readonly string[]> => {
        const { output } = await act({ verb: "LIST", flags: ["TREE"], offset, ...more });
        return entriesOf(output).map(({ kind, name, closed }) => `${kind}${closed} ${name}`);
      };
      const top = ["d0 folder", "f0 digits", "l0 absolute", "l0 dangling", "l0 in", "l0 out", "l0 relative", "p0 fifo"];
      const second = ["d0 folder/a", "f0 folder/file"];
      const rest = ["d0 folder/a/b", "f0 folder/a/b/c\xff"];
      expect((await names(1)).toSorted()).toEqual([...top, "d0 shut"].toSorted());
      expect((await names(2)).toSorted()).toEqual([...top, "d1 shut", ...second].toSorted());
      for (const levels of [0, 99]) {
        expect((await names(levels)).toSorted()).toEqual([...top, "d1 shut", ...second, ...rest].toSorted());
      }
      expect(await names(0, { maxEntries: 3 })).toHaveLength(3);
      const found = await names(0);
      expect(found.indexOf("d0 folder/a")).toBeLessThan(found.indexOf("d0 folder/a/b"));
      await sh(`chmod 700 ${inside}/shut`);
      // Other file systems are other places, unless levels are counted.
      expect((await names(0, { folder: "/" })).filter((line) => / (proc|tmp)\//.test(line))).toEqual([]);
      expect((await names(2, { folder: "/" })).filter((line) => / (proc|tmp)\//.test(line))).not.toEqual([]);
    });

    it("that are no files, or not writable, are not replaced", async () => {
      await sh(`${scene}; echo shut > shut; chmod 444 shut`);
      for (const [path, errno] of [
        ["fifo", 22],
        ["relative", 40],
        ["shut", 13],
      ] as const) {
        expect(await act({ verb: "WRITE", path, flags: ["MODE"] }, "x")).toMatchObject({ reason: "FAILED", errno });
      }
      await act({ verb: "WRITE", path: "digits", mode: 0o7604, flags: ["MODE"] }, "x");
      await sh(`chmod 6604 ${inside}/digits`);
      await act({ verb: "WRITE", path: "digits" }, "x");
      const kinds = await sh(`cd ${inside}; stat -c '%a %F' digits fifo relative shut; ls -A | wc -l`);
      expect(kinds).toBe("604 regular file\n644 fifo\n777 symbolic link\n444 regular file\n9\n");
    });

    it("get the folder that they are beneath made, with links followed, where that is asked for", async () => {
      await sh(`${scene}; ln -s ${inside}/folder /tmp/work/way`);
      const deep = { folder: "/tmp/work/way/new/deep", path: "a/file", flags: ["PARENTS"] } as const;
      expect(await act({ verb: "WRITE", ...deep, flags: [] }, "x")).toMatchObject({
        reason: "FAILED",
        stage: "FOLDER",
      });
      expect(await act({ verb: "WRITE", ...deep }, "made")).toMatchObject({ reason: "DONE" });
      expect(await sh(`cat ${inside}/folder/new/deep/a/file`)).toBe("made");
      for (const [folder, errno] of [
        [`${inside}/digits/x`, 20],
        ["/proc/new/x", 2],
        [`${inside}/dangling/x`, 2],
        [`${inside}/${"x".repeat(256)}`, 36],
      ] as const) {
        const end = await act({ verb: "WRITE", folder, path: "f", flags: ["PARENTS"] }, "x");
        expect([folder, end.stage, end.errno]).toEqual([folder, "FOLDER", errno]);
      }
    });

    it("are never reached through a magic link of /proc", async () => {
      for (const path of ["self/root/etc/passwd", "self/cwd/etc/passwd", "1/root/etc/passwd", "self/fd/0", "1/fd/0"]) {
        const { reason: end, output } = await act({ verb: "READ", folder: "/proc", path });
        expect([path, end, output.length]).toEqual([path, "FAILED", 0]);
      }
      for (const path of ["self", "self/root", "self/cwd", "1/root", "thread-self/root/etc"]) {
        const { reason: end, output } = await act({ verb: "LIST", folder: "/proc", path });
        expect([path, end, output.length]).toEqual([path, "FAILED", 0]);
      }
    });

    it("that are no files are not waited for", async () => {
      await sh(scene);
      for (const [folder, path] of [
        [inside, "fifo"],
        ["/dev", "zero"],
      ] as const) {
        expect(await act({ verb: "READ", folder, path })).toMatchObject({ reason: "FAILED", stage: "OPEN" });
        expect(await act({ verb: "WRITE", folder, path, flags: ["APPEND"] }, "x")).toMatchObject({ reason: "FAILED" });
        expect(await act({ verb: "PACK", folder, path })).toMatchObject({ reason: "FAILED", stage: "OPEN", errno: 22 });
      }
      expect(await act({ verb: "PACK" })).toMatchObject({ reason: "DONE", entries: 9 });
    });

    it("whose names are any bytes come through", async () => {
      await sh(`rm -rf ${inside}; mkdir -p ${inside}`);
      const name = Buffer.from(Array.from({ length: 255 }, (_, at) => at + 1).filter((byte) => byte !== 47));
      expect(await act({ verb: "WRITE", path: name }, "bytes")).toMatchObject({ reason: "DONE" });
      expect(entriesOf((await act({ verb: "LIST" })).output).map((entry) => entry.name)).toEqual([
        name.toString("latin1"),
      ]);
      expect((await act({ verb: "READ", path: name })).output.toString()).toBe("bytes");
      const { output } = await act({ verb: "PACK" });
      await act({ verb: "UNPACK", path: "copy", flags: ["PARENTS"] }, output.toString("latin1"));
      const sent = beginOperation(subject, { verb: "UNPACK", folder: inside, path: "copy", flags: ["PARENTS"] });
      await sendInput(subject, sent, output);
      subject.frame("INPUT_END", sent);
      expect(await operationEnd(subject, sent)).toMatchObject({ reason: "DONE" });
      const copied = await act({ verb: "READ", path: Buffer.concat([Buffer.from("copy/"), name]) });
      expect(copied.output.toString()).toBe("bytes");
    });

    it("that lie too deep are an error, and nothing else", async () => {
      const deep = "for i in $(seq 400); do mkdir d && cd d; done";
      await sh(`rm -rf ${inside}; mkdir -p ${inside}; cd ${inside}; ${deep}; echo bottom > file`);
      for (const verb of ["PACK", "REMOVE"]) {
        const end = await act({ verb, path: "d", flags: verb === "REMOVE" ? ["TREE"] : [] });
        expect([verb, end.reason, end.errno]).toEqual([verb, "FAILED", 36]);
      }
      const path = Array.from({ length: 400 }, () => "d").join("/");
      expect((await act({ verb: "READ", path: `${path}/file` })).output.toString()).toBe("bottom\n");
      await sh(`rm -rf ${inside}`);
    });

    it("stay beneath their folder while a program exchanges a folder for a link", async () => {
      await sh(scene);
      await sh(`cd ${inside}; mkdir sub; echo mine > sub/secret; ln -s /tmp/work/outside swap`);
      const swapper = subject.spawn({ command: [hostile, "swaps", `${inside}/sub`, `${inside}/swap`] });
      await subject.until("ready", () => subject.record(swapper).stdout.includes("ready"));
      const reads: string[] = [];
      for (let round = 0; round < 15; round++) {
        const both = ["sub", "swap"];
        const ends = await Promise.all([
          ...both.map((name) => act({ verb: "READ", path: `${name}/secret` })),
          ...both.map((name) => act({ verb: "WRITE", path: `${name}/new${round}` }, "planted")),
          ...both.map((name) => act({ verb: "CHMOD", path: `${name}/secret`, mode: 0o600 })),
          ...both.map((name) => act({ verb: "REMOVE", path: `${name}/new${round}` })),
          act({ verb: "PACK" }),
          act({ verb: "MAKE", path: `sub/made${round}/deep`, flags: ["PARENTS"] }),
        ]);
        reads.push(...ends.map(({ output }) => output.toString("latin1")).filter((text) => text.includes("secret\n")));
      }
      const other = subject.spawn({ command: [hostile, "swaps", `${inside}/digits`, `${inside}/absolute`] });
      await subject.until("ready", () => subject.record(other).stdout.includes("ready"));
      for (let round = 0; round < 40; round++) {
        const ends = await Promise.all([1, 2, 3, 4].map(() => act({ verb: "READ", path: "digits" })));
        reads.push(...ends.map(({ output }) => output.toString()).filter((text) => text.includes("secret")));
      }
      for (const each of [swapper, other]) {
        subject.frame("END_TREE", each, { graceMs: 0 });
        await subject.ended(each);
      }
      expect(reads.filter((text) => !text.includes("ustar"))).toEqual([]);
      // An archive has the secret's name, its content never.
      expect(reads.filter((text) => text.includes("\0secret\n"))).toEqual([]);
      expect(await sh("cd /tmp/work/outside; ls; stat -c %a secret; cat secret")).toBe("secret\n644\nsecret\n");
    });

    it("appear whole or not at all, whatever ends the writing", async () => {
      await sh(`rm -rf ${inside}; mkdir -p ${inside}; echo old > ${inside}/file`);
      const write = beginOperation(subject, { verb: "WRITE", folder: inside, path: "file" });
      await sendInput(subject, write, Buffer.alloc(100_000));
      subject.frame("CLOSE", write);
      expect(await operationEnd(subject, write)).toMatchObject({ reason: "CLOSED" });
      const late = beginOperation(subject, { verb: "WRITE", folder: inside, path: "file", deadlineMs: 50 });
      await sendInput(subject, late, Buffer.alloc(1000));
      expect(await operationEnd(subject, late)).toMatchObject({ reason: "DEADLINE" });
      expect(await sh(`cd ${inside}; ls -A; cat file`)).toBe("file\nold\n");
    });

    it("of the host are not cut when the sandbox is lost in the middle", async () => {
      writeFileSync(join(host, "file"), "old");
      chmodSync(join(host, "file"), 0o666);
      await using other = await Supervised.start({
        ...{ binary: sanitizedSupervisor(), lacks, mounts: ["--bind", host, "/tmp/host"] },
      });
      const write = beginOperation(other, { verb: "WRITE", folder: "/tmp/host", path: "file" });
      await sendInput(other, write, Buffer.alloc(200_000));
      other.process.stdin?.end();
      await other.exited();
      expect([readdirSync(host), readFileSync(join(host, "file"), "utf8")]).toEqual([["file"], "old"]);
    });

    it("go on for others when a program ends or stops the process that works for one", async () => {
      await sh(scene);
      for (const signal of [9, 19]) {
        const write = beginOperation(subject, {
          ...{ verb: "WRITE", folder: inside, path: `struck${signal}`, deadlineMs: 5000 },
        });
        await sendInput(subject, write, Buffer.alloc(1000));
        const striker = subject.spawn({ command: [hostile, "strikes", String(signal)], flags: flags.input });
        expect(await operationEnd(subject, write)).toMatchObject({ reason: "FAILED", stage: "HELPER" });
        subject.frame("END_TREE", striker, { graceMs: 0 });
        await subject.ended(striker);
        expect((await act({ verb: "READ", path: "digits" })).output.toString()).toBe("0123456789");
      }
    });
  });
});
