import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import type { Topic } from "./behaviour.ts";
import { inEachImage } from "./in-each-image.ts";

const needs = { capability: "programs", timeoutMs: 240_000 } as const;

async function read(files: SandboxFiles, path: string, options?: object): Promise<string> {
  const { chunks } = await files.read(path, options);
  return (await bytesOf(chunks)).toString("latin1");
}

/** What came of it: its content, or the type of its error; whatever happens, it comes in time. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  const late = new Promise((resolve) => setTimeout(resolve, 30_000, "late").unref());
  return Promise.race([work.catch((error: unknown) => (error as GloveboxError).errorType), late]);
}

/** Programs that set traps for file calls, which are made without any program in between. */
export const fileAttacks: Topic = (behaviour) => {
  behaviour(
    "file-attacks.no-program",
    "file calls start no program",
    (scene) =>
      inEachImage(scene, async ({ container, sh, scene: { capabilities } }) => {
        const started: unknown[] = [];
        const exec: typeof container.exec = (spec) => {
          started.push(spec);
          throw new Error("a program was to be started");
        };
        const inside = {
          exec,
          isAlive: () => container.isAlive(),
          files: (folder: string) => container.files!(folder),
        };
        const files = new SandboxFiles(inside, capabilities);
        await files.write("/work/a/file", Buffer.from("text"), { mode: 0o600 });
        await sh("cd /work/a && ln -s file link");
        expect(await read(files, "/work/a/link")).toBe("text");
        expect((await files.list("/work", { depth: 2 })).entries.map(({ path }) => path)).toEqual([
          "a",
          "a/file",
          "a/link",
        ]);
        expect((await files.findEntries("/work")).files).toEqual([Buffer.from("a/file")]);
        const batch = { paths: ["a/file", "a/link", "none"], maxFileBytes: 100, maxBytes: 100 };
        expect((await files.readBatch("/work", batch)).map(({ bytes }) => bytes?.length)).toEqual([
          4,
          undefined,
          undefined,
        ]);
        expect(started).toEqual([]);
      }),
    needs,
  );

  behaviour(
    "file-attacks.read",
    "a file that becomes a FIFO, a device and links in turn is read or refused, and never waited for",
    (scene) =>
      inEachImage(scene, async ({ files, container, sh }) => {
        const longest = scene.subject.maxSparseBytes ?? 900 * 2 ** 30;
        await sh(`cd /work && echo mine >file
          (truncate -s ${longest} sparse || dd if=/dev/null of=sparse bs=1 seek=${longest}) 2>/dev/null`);
        const script = `cd /work; echo go; while :; do rm -f file; mkfifo file; rm -f file; ln -s /dev/zero file
          rm -f file; ln -s fifo file; rm -f file; mkdir file; rmdir file; echo mine >new; mv new file; done`;
        const program = await container.exec({ command: ["sh", "-c", script] });
        program.stdin.end();
        await program.output[Symbol.asyncIterator]().next();
        for (let round = 0; round < 60; round++) {
          const found = await outcomeOf(read(files, "/work/file"));
          expect(["mine\n", "", "NOT_FOUND", "INVALID_REQUEST"]).toContain(found);
        }
        // What pid 1 and the process that answers have is not theirs.
        for (const path of [
          "1/environ",
          "1/mem",
          "1/fd/0",
          "1/root/etc/hostname",
          "self/fd/0",
          "self/fd/1",
          "self/mem",
        ]) {
          const outcome = await outcomeOf(read(files, `/proc/${path}`, { maxBytes: 100 }));
          expect([path, ["", "NOT_FOUND", "INVALID_REQUEST", "PERMISSION_DENIED", "INTERNAL"]]).toEqual([
            path,
            expect.arrayContaining([outcome]),
          ]);
        }
        const { sizeBytes, chunks } = await files.read("/work/sparse", { maxBytes: 10, offsetBytes: longest - 10 });
        expect([sizeBytes, (await bytesOf(chunks)).length]).toEqual([longest, 10]);
      }),
    needs,
  );

  behaviour(
    "file-attacks.write",
    "a file whose folder and name are exchanged while it is written is whole where it comes to rest, and nowhere else",
    (scene) =>
      inEachImage(scene, async ({ files, container, sh }) => {
        await sh("mkdir -p /work/in /work/other /tmp/away");
        const script = `cd /work; echo go; while :; do mv in old; ln -s /etc in; rm in; ln -s /tmp/away in; rm in; mv old in
          ln -sf /proc/self/mem in/file; ln -sf /proc/1/mem in/file; rm -f in/file; done`;
        const program = await container.exec({ command: ["sh", "-c", script] });
        program.stdin.end();
        await program.output[Symbol.asyncIterator]().next();
        const content = Buffer.alloc(200_000, "w");
        const outcomes = new Set<unknown>();
        for (let round = 0; round < 40; round++) {
          outcomes.add(await outcomeOf(files.write("/work/in/file", content)));
        }
        const allowed = ["NOT_FOUND", "INVALID_REQUEST", "PERMISSION_DENIED", "ALREADY_EXISTS"];
        expect(allowed).toEqual(expect.arrayContaining([...outcomes].filter((outcome) => outcome !== undefined)));
        await program.kill("SIGKILL");
        // The program may have ended with one of its links in the place.
        const sizes = await sh(
          `for each in /work/*/file /tmp/away/file; do [ ! -L "$each" ] && [ -f "$each" ] && wc -c <"$each"; done; true`,
        );
        expect(
          new Set(
            sizes
              .split("\n")
              .map((line) => line.trim())
              .filter(Boolean),
          ).size,
        ).toBeLessThanOrEqual(1);
        expect(await sh("find /work /tmp/away -name '.glovebox*' | wc -l | tr -d ' '")).toBe("0\n");
        for (const path of ["/proc/self/mem", "/proc/1/oom_score_adj", "/proc/sysrq-trigger", "/proc/self/fd/1"]) {
          expect(await outcomeOf(files.write(path, Buffer.from("x")))).toMatch(
            /PERMISSION_DENIED|INVALID_REQUEST|NOT_FOUND/,
          );
        }
      }),
    needs,
  );

  behaviour(
    "file-attacks.list",
    "huge, deep and strangely named trees are listed and searched in time, within their limits",
    (scene) =>
      inEachImage(
        scene,
        async ({ files, sh }) => {
          const deep = "i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 0; i=$((i+1)); done";
          await sh(`mkdir /work/many /work/deep /work/long /work/shut /work/odd; cd /work/many
            i=0; while [ $i -lt 3000 ]; do : >$i; i=$((i+1)); done
            cd /work/deep && ${deep}; touch bottom; cd /work/long
            t=$(head -c 3000 /dev/zero | tr '\\0' t); i=0; while [ $i -lt 200 ]; do ln -s $t $i; i=$((i+1)); done
            cd /work/odd; touch "$(printf 'a\\nb')" "$(printf 'c\\377')"; mkfifo fifo; ln -s /etc etc
            echo x >/work/shut/x; chmod 0 /work/shut`);
          const many = await files.list("/work/many", { maxEntries: 100 });
          expect([many.entries.length, many.isTruncated]).toEqual([100, true]);
          const long = await files.list("/work/long", { maxEntries: 1_000 });
          expect([long.entries.length, long.isTruncated]).toEqual([expect.any(Number), true]);
          expect(long.entries.length).toBeGreaterThan(50);
          const down = await files.list("/work/deep", { depth: 9_999 });
          expect(down.entries.length).toBeGreaterThan(250);
          const found = await files.findEntries("/work");
          expect(found.closedFolders.map((each) => Buffer.from(each).toString())).toContain("shut");
          expect(found.files.map((each) => Buffer.from(each).toString("latin1"))).toEqual(
            expect.arrayContaining(["odd/a\nb", "odd/c\xff", "many/0"]),
          );
          expect(found.others).toEqual([Buffer.from("odd/fifo")]);
          for (const gone of ["/work/none", "/work/odd/fifo", "/work/shut"]) {
            expect((await files.findEntries(gone)).files).toEqual([]);
          }
          const batch = { paths: ["odd/etc/hostname", "odd/fifo", "shut/x", "many/0"], maxFileBytes: 9, maxBytes: 9 };
          expect(await files.readBatch("/work", batch)).toMatchObject([
            { sizeBytes: null, unreadable: false },
            { sizeBytes: null, unreadable: false },
            { sizeBytes: null, unreadable: true },
            { sizeBytes: 0, bytes: Buffer.alloc(0) },
          ]);
          await sh("chmod 700 /work/shut");
        },
        { scratch: [{ path: "/work", sizeBytes: 64 * mebibyte }] },
      ),
    needs,
  );
};
