import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import { failureOf } from "../helpers/failure-of.ts";
import type { Topic } from "./behaviour.ts";
import { inEachImage, inMinimalImage } from "./in-each-image.ts";

const needs = { capability: "programs", timeoutMs: 120_000 } as const;
const strangeNames = [
  "with space",
  "new\nline",
  "\nfirst",
  "last\n",
  `quote'"$(false)\`;&|`,
  "-rf",
  "--",
  "naïve 文字 🎉",
  "*",
  "back\\slash",
  ".hidden",
  "x".repeat(255),
];

async function read(files: SandboxFiles, path: string, options?: object): Promise<Buffer> {
  const { chunks } = await files.read(path, options);
  return bytesOf(chunks);
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Files are copied in and out, one by one. */
export const files: Topic = (behaviour) => {
  behaviour(
    "files.round-trip",
    "files of all sizes are copied in and out unchanged, in folders that are created for them",
    (scene) =>
      inEachImage(scene, async ({ files: inside }) => {
        for (const size of [0, 1, 511, 512, 513, 65_537, 3 * mebibyte + 1]) {
          const content = randomBytes(size);
          const path = `/work/made/for it/${size}`;
          await inside.write(path, content);
          const opened = await inside.read(path);
          expect(opened.sizeBytes).toBe(size);
          expect((await bytesOf(opened.chunks)).equals(content), `${size}`).toBe(true);
        }
        const { entries } = await inside.list("/work/made/for it");
        expect(entries.map(({ mode }) => mode)).toEqual(Array.from({ length: 7 }, () => 0o644));
      }),
    needs,
  );

  behaviour(
    "files.big",
    "100 MiB are copied in and out, and are never held here as a whole",
    (scene) =>
      inMinimalImage(
        scene,
        async ({ files: inside }) => {
          const piece = randomBytes(mebibyte);
          const sum = createHash("sha256");
          async function* hundred(): AsyncGenerator<Uint8Array, void, undefined> {
            for (let count = 0; count < 100; count++) {
              piece.writeUInt32BE(count);
              sum.update(piece);
              yield Buffer.from(piece);
            }
          }
          const before = process.memoryUsage().rss;
          await inside.write("/work/big", { sizeBytes: 100 * mebibyte, chunks: hundred() });
          const { sizeBytes, chunks } = await inside.read("/work/big");
          expect(sizeBytes).toBe(100 * mebibyte);
          const received = createHash("sha256");
          for await (const chunk of chunks) received.update(chunk);
          expect(received.digest("hex")).toBe(sum.digest("hex"));
          expect(process.memoryUsage().rss - before).toBeLessThan(80 * mebibyte);
        },
        { limits: { memoryBytes: 512 * mebibyte }, scratch: [{ path: "/work", sizeBytes: 128 * mebibyte }] },
      ),
    needs,
  );

  behaviour(
    "files.parts",
    "a part of a file can be read",
    (scene) =>
      inEachImage(scene, async ({ files: inside }) => {
        await inside.write("/work/letters", Buffer.from("abcdefghij"));
        expect((await read(inside, "/work/letters", { offsetBytes: 3, maxBytes: 4 })).toString()).toBe("defg");
        expect((await read(inside, "/work/letters", { offsetBytes: 8, maxBytes: 4 })).toString()).toBe("ij");
        expect((await read(inside, "/work/letters", { maxBytes: 2 })).toString()).toBe("ab");
        expect((await read(inside, "/work/letters", { maxBytes: 0 })).toString()).toBe("");
        expect((await read(inside, "/work/letters", { offsetBytes: 10 })).toString()).toBe("");
        expect((await read(inside, "/work/letters", { offsetBytes: 999 })).toString()).toBe("");
        await failureOf(inside.read("/work/letters", { offsetBytes: -1 }), "INVALID_REQUEST");
      }),
    needs,
  );

  behaviour(
    "files.names",
    "names may contain anything",
    (scene) =>
      inEachImage(scene, async ({ files: inside }) => {
        for (const name of strangeNames) await inside.write(`/work/names/${name}`, Buffer.from(name));
        const { entries, isTruncated } = await inside.list("/work/names");
        expect(entries.map(({ path }) => path)).toEqual(strangeNames.toSorted());
        expect(entries.map(({ sizeBytes }) => sizeBytes)).toEqual(
          strangeNames.toSorted().map((name) => Buffer.byteLength(name)),
        );
        expect(isTruncated).toBe(false);
        for (const name of strangeNames) expect((await read(inside, `/work/names/${name}`)).toString()).toBe(name);
      }),
    needs,
  );

  behaviour(
    "files.links",
    "links are shown as links and followed inside, never out of the sandbox",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await sh(`cd /work; mkdir folder; echo text >folder/file; ln -s folder/file good; ln -s folder to-folder
          ln -s absent dangling; ln -s a b; ln -s b a; ln -s /etc/hostname outside`);
        const { entries } = await inside.list("/work");
        expect(Object.fromEntries(entries.map(({ path, kind }) => [path, kind]))).toEqual({
          ...{ a: "link", b: "link", dangling: "link", folder: "folder", good: "link", outside: "link" },
          "to-folder": "link",
        });
        expect((await read(inside, "/work/good")).toString()).toBe("text\n");
        expect((await inside.list("/work/to-folder")).entries.map(({ path }) => path)).toEqual(["file"]);
        await failureOf(inside.read("/work/dangling"), "NOT_FOUND");
        await failureOf(inside.read("/work/a"), "INVALID_REQUEST");
        await failureOf(inside.write("/work/a", Buffer.alloc(1)), "INVALID_REQUEST");
        await failureOf(inside.write("/work/outside", Buffer.alloc(1)), "PERMISSION_DENIED");
        await inside.write("/work/good", Buffer.from("through\n"));
        await inside.write("/work/dangling", Buffer.from("made\n"));
        expect(await sh("cd /work; cat folder/file absent; readlink good")).toBe("through\nmade\nfolder/file\n");
        // The sandbox's own file, not the host's.
        expect((await read(inside, "/work/outside")).toString()).toBe(await sh("cat /etc/hostname"));
      }),
    needs,
  );

  behaviour(
    "files.changing",
    "a file that a program is writing is read up to its size when it was opened",
    (scene) =>
      inEachImage(scene, async ({ files: inside, container, sh }) => {
        await sh("head -c 1048576 /dev/zero >/work/grows");
        const program = await container.exec({
          command: ["sh", "-c", "echo go; while :; do echo more >>/work/grows; done"],
        });
        program.stdin.end();
        await program.output[Symbol.asyncIterator]().next();
        for (let count = 0; count < 3; count++) {
          const { sizeBytes, chunks } = await inside.read("/work/grows");
          expect((await bytesOf(chunks)).length).toBe(sizeBytes);
        }
      }),
    needs,
  );

  behaviour(
    "files.given-up-reading",
    "a reader may stop early",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await sh("head -c 8388608 /dev/zero >/work/file");
        const { chunks } = await inside.read("/work/file");
        for await (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThan(0);
          break;
        }
        expect(hash(await read(inside, "/work/file"))).toBe(hash(Buffer.alloc(8 * mebibyte)));
      }),
    needs,
  );

  behaviour(
    "files.list",
    "a list goes to the requested depth and length",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await sh(
          "mkdir -p /work/a/b/c; TZ=UTC touch -d '2001-02-03 04:05:06' /work/a/file; cd /work/a/b; touch 1 2 3 4 5",
        );
        const shallow = await inside.list("/work/a/");
        expect(shallow.entries).toMatchObject([
          { path: "b", kind: "folder", sizeBytes: 0 },
          { path: "file", kind: "file", sizeBytes: 0, mode: 0o644, modifiedAtMs: Date.UTC(2001, 1, 3, 4, 5, 6) },
        ]);
        const deep = await inside.list("/work", { depth: 9 });
        expect(deep.entries.map(({ path }) => path)).toEqual([
          "a",
          "a/b",
          "a/b/1",
          "a/b/2",
          "a/b/3",
          "a/b/4",
          "a/b/5",
          "a/b/c",
          "a/file",
        ]);
        const few = await inside.list("/work", { depth: 9, maxEntries: 4 });
        expect({ count: few.entries.length, isTruncated: few.isTruncated }).toEqual({ count: 4, isTruncated: true });
        expect(await inside.list("/work/a/b/c")).toEqual({ entries: [], isTruncated: false });
        expect((await inside.list("/")).entries.map(({ path }) => path)).toContain("work");
      }),
    needs,
  );
};
