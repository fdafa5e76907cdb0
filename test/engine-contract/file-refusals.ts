import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { failureOf } from "../helpers/failure-of.ts";
import type { Topic } from "./behaviour.ts";
import { inEachImage } from "./in-each-image.ts";

const needs = { capability: "programs", timeoutMs: 120_000 } as const;

async function* slowly(...chunks: readonly (Uint8Array | Error)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setImmediate(resolve));
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}

/** What cannot be copied in or out is refused with a reason and does no harm. */
export const fileRefusals: Topic = (behaviour) => {
  behaviour(
    "files.bad-names",
    "impossible names are refused, and one that is not UTF-8 is shown as such",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        const wrong = ["relative", "", "/work/zero\0byte", "/work/\ud800", `/${"x/".repeat(3000)}`];
        for (const path of wrong) {
          await failureOf(inside.read(path), "INVALID_REQUEST");
          await failureOf(inside.write(path, Buffer.alloc(1)), "INVALID_REQUEST");
          await failureOf(inside.list(path), "INVALID_REQUEST");
        }
        await failureOf(inside.write(`/work/${"x".repeat(256)}`, Buffer.alloc(1)), "INVALID_REQUEST");
        await sh(`touch "$(printf '/work/bad\\377')"`);
        const { entries } = await inside.list("/work");
        expect(entries).toMatchObject([{ path: "bad\ufffd", isAddressable: false, kind: "file" }]);
      }),
    needs,
  );

  behaviour(
    "files.missing",
    "a missing path is NOT_FOUND; a folder is not a file and a file is not a folder",
    (scene) =>
      inEachImage(scene, async ({ files: inside }) => {
        await inside.write("/work/file", Buffer.from("x"));
        const error = await failureOf(inside.read("/work/absent"), "NOT_FOUND");
        expect(error.message).toBe('"/work/absent" does not exist in the sandbox.');
        await failureOf(inside.list("/work/absent"), "NOT_FOUND");
        await failureOf(inside.read("/work"), "INVALID_REQUEST");
        await failureOf(inside.write("/work", Buffer.alloc(1)), "INVALID_REQUEST");
        await failureOf(inside.list("/work/file"), "INVALID_REQUEST");
        await failureOf(inside.read("/work/file/below"), "INVALID_REQUEST");
      }),
    needs,
  );

  behaviour(
    "files.permissions",
    "the programs' user reads and writes what it may, and permissions are kept",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await failureOf(inside.write("/etc/own", Buffer.alloc(1)), "PERMISSION_DENIED");
        await failureOf(inside.write("/made/here", Buffer.alloc(1)), "PERMISSION_DENIED");
        await inside.write("/work/tool", Buffer.from("#!/bin/sh\necho old\n"), { mode: 0o755 });
        await inside.write("/work/tool", Buffer.from("#!/bin/sh\necho new\n"));
        expect(await sh("/bin/sh /work/tool")).toBe("new\n");
        expect((await inside.list("/work")).entries).toMatchObject([{ path: "tool", mode: 0o755 }]);
        await sh("chmod 0 /work/tool; mkdir -m 0 /work/shut");
        await failureOf(inside.read("/work/tool"), "PERMISSION_DENIED");
        await failureOf(inside.write("/work/tool", Buffer.alloc(1)), "PERMISSION_DENIED");
        await failureOf(inside.list("/work/shut"), "PERMISSION_DENIED");
        await failureOf(inside.read("/work/shut/file"), "PERMISSION_DENIED");
        await sh("chmod 700 /work/shut");
      }),
    { ...needs },
  );

  behaviour(
    "files.fifo",
    "a FIFO and a device are never opened",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await sh("mkfifo /work/fifo; ln -s fifo /work/to-fifo");
        for (const path of ["/work/fifo", "/work/to-fifo", "/dev/null", "/dev/zero"]) {
          await failureOf(inside.read(path), "INVALID_REQUEST");
          await failureOf(inside.write(path, Buffer.from("x")), "INVALID_REQUEST");
        }
        expect((await inside.list("/work")).entries.map(({ kind }) => kind)).toEqual(["other", "link"]);
      }),
    needs,
  );

  behaviour(
    "files.disk-full",
    "content that does not fit is refused and leaves nothing, and existing files are kept",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await inside.write("/work/kept", Buffer.from("kept"));
        const error = await failureOf(inside.write("/work/kept", Buffer.alloc(40 * mebibyte)), "POLICY_DENIED");
        expect(error.message).toContain("does not fit");
        await failureOf(inside.write("/work/new", Buffer.alloc(40 * mebibyte)), "POLICY_DENIED");
        expect(await sh("cd /work; find . -mindepth 1; cat kept")).toBe("./kept\nkept");
        await inside.write("/work/fits", Buffer.alloc(8 * mebibyte));
      }),
    needs,
  );

  behaviour(
    "files.incomplete",
    "content that breaks off, is cancelled or has the wrong size leaves existing files unchanged",
    (scene) =>
      inEachImage(scene, async ({ files: inside, sh }) => {
        await inside.write("/work/kept", Buffer.from("kept"));
        const half = Buffer.alloc(mebibyte);
        const broken = { sizeBytes: 2 * mebibyte, chunks: slowly(half, new Error("broken")) };
        await expect(inside.write("/work/kept", broken)).rejects.toThrow("broken");
        for (const chunks of [slowly(half), slowly(half, half, half)]) {
          await failureOf(inside.write("/work/kept", { sizeBytes: 2 * mebibyte, chunks }), "INVALID_REQUEST");
        }
        const abort = new AbortController();
        const never = (async function* () {
          yield half;
          abort.abort();
          yield half;
        })();
        const given = inside.write("/work/kept", { sizeBytes: 2 * mebibyte, chunks: never }, { signal: abort.signal });
        await failureOf(given, "CANCELLED");
        expect(await sh("cd /work; find . -mindepth 1; cat kept")).toBe("./kept\nkept");
      }),
    needs,
  );
};
