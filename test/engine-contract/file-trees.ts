import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { NewTreeEntry, TreeEntry } from "../../src/sandbox/files/file-way.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import { failureOf } from "../helpers/failure-of.ts";
import type { Topic } from "./behaviour.ts";
import { inEachImage } from "./in-each-image.ts";

const needs = { capability: "programs", timeoutMs: 120_000 } as const;
const modifiedAtMs = Date.UTC(2001, 1, 3, 4, 5, 6);

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield content;
}

function file(path: string, content: Uint8Array | string, mode = 0o644): NewTreeEntry {
  const bytes = Buffer.from(content);
  return { kind: "file", path, mode, modifiedAtMs, sizeBytes: bytes.length, chunks: once(bytes) };
}

/** The entries with their contents, by path. */
async function collect(entries: AsyncIterable<TreeEntry>): Promise<Record<string, object>> {
  const collected: Record<string, object> = {};
  for await (const entry of entries) {
    if (entry.kind === "file") {
      const { chunks, ...facts } = entry;
      collected[entry.path] = { ...facts, content: await bytesOf(chunks) };
    } else collected[entry.path] = entry;
  }
  return collected;
}

/** Folders are copied in and out. */
export const fileTrees: Topic = (behaviour) => {
  behaviour(
    "file-trees.round-trip",
    "a tree is copied in and out unchanged: contents, names, permissions, times, links",
    (scene) =>
      inEachImage(scene, async ({ files }) => {
        const big = randomBytes(2 * mebibyte + 17);
        const long = `${"d".repeat(150)}/${"ü".repeat(120)}`;
        const common = { mode: 0o755, modifiedAtMs };
        const sent: readonly NewTreeEntry[] = [
          { ...common, kind: "folder", path: "empty" },
          file("empty file", ""),
          file("-rf", "dash"),
          file("new\nline 'quoted' \"twice\"", "strange", 0o600),
          file("tool.sh", "#!/bin/sh\n", 0o755),
          { ...common, kind: "folder", path: "d".repeat(150) },
          file(long, big),
          { ...common, kind: "link", path: "link", target: long },
          { ...common, kind: "link", path: "dangling", target: "no/such" },
          { ...common, kind: "hard-link", path: "twin", target: "tool.sh" },
        ];
        await files.writeTree("/work/a folder/tree", sent);
        const received = await collect(files.readTree("/work/a folder/tree"));
        expect(Object.keys(received).toSorted()).toEqual(["", ...sent.map(({ path }) => path)].toSorted());
        expect(received["empty"]).toMatchObject({ kind: "folder" });
        expect(received["empty file"]).toMatchObject({ kind: "file", sizeBytes: 0, mode: 0o644, modifiedAtMs });
        expect(received["-rf"]).toMatchObject({ content: Buffer.from("dash") });
        expect(received["new\nline 'quoted' \"twice\""]).toMatchObject({
          mode: 0o600,
          content: Buffer.from("strange"),
        });
        expect((received[long] as { content: Buffer }).content.equals(big)).toBe(true);
        expect(received["link"]).toMatchObject({ kind: "link", target: long });
        expect(received["dangling"]).toMatchObject({ kind: "link", target: "no/such" });
        const twins = [received["tool.sh"], received["twin"]] as { kind: string; target?: string }[];
        expect(twins.map(({ kind }) => kind).toSorted()).toEqual(["file", "hard-link"]);
        expect(twins[0]).toMatchObject({ mode: 0o755 });
      }),
    needs,
  );

  behaviour(
    "file-trees.one-file",
    "a tree may be a single file, and a single link is a link",
    (scene) =>
      inEachImage(scene, async ({ files }) => {
        const link = { kind: "link", path: "link", target: "one", mode: 0o777, modifiedAtMs } as const;
        await files.writeTree("/work", [file("one", "1"), link]);
        expect(await collect(files.readTree("/work/one"))).toMatchObject({ one: { content: Buffer.from("1") } });
        expect(await collect(files.readTree("/work/link"))).toMatchObject({ link: { kind: "link", target: "one" } });
        await failureOf(collect(files.readTree("/work/absent")), "NOT_FOUND");
      }),
    needs,
  );

  behaviour(
    "file-trees.replace",
    "existing files are replaced; files that are not in the tree are kept",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh("cd /work; echo old >file; echo kept >other; ln -s other link; mkfifo fifo");
        await files.writeTree("/work", [file("file", "new"), file("link", "no link"), file("fifo", "no fifo")]);
        expect(await sh("cd /work; cat file other link fifo")).toBe("newkept\nno linkno fifo");
      }),
    needs,
  );

  behaviour(
    "file-trees.special",
    "FIFOs and sockets are reported as such and never opened",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh("mkdir /work/tree; cd /work/tree; mkfifo fifo; echo file >file");
        const received = await collect(files.readTree("/work/tree"));
        expect(received).toMatchObject({ fifo: { kind: "other" }, file: { content: Buffer.from("file\n") } });
      }),
    needs,
  );

  behaviour(
    "file-trees.unreadable",
    "an unreadable file is an error, after everything else has arrived",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh("mkdir /work/tree; cd /work/tree; echo 1 >a; echo 2 >b; echo 3 >c; chmod 0 b");
        const paths: string[] = [];
        const reading = (async () => {
          for await (const entry of files.readTree("/work/tree")) paths.push(entry.path);
        })();
        await failureOf(reading, "PERMISSION_DENIED");
        expect(paths).toEqual(expect.arrayContaining(["a", "c"]));
        await failureOf(files.writeTree("/etc", [file("x", "x")]), "PERMISSION_DENIED");
      }),
    needs,
  );

  behaviour(
    "file-trees.bad-name",
    "a name that is not UTF-8 is refused with a reason, and so are paths that lead out",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh(`mkdir /work/tree; touch "$(printf '/work/tree/bad\\377')"`);
        const error = await failureOf(collect(files.readTree("/work/tree")), "INVALID_REQUEST");
        expect(error.message).toContain("not UTF-8");
        for (const path of ["../out", "/out", "a/../../out"]) {
          await failureOf(files.writeTree("/work/tree", [file(path, "x")]), "INVALID_REQUEST");
        }
        expect(await sh("cd /work; find . -mindepth 1 -maxdepth 1")).toBe("./tree\n");
      }),
    needs,
  );

  behaviour(
    "file-trees.disk-full",
    "a tree that does not fit is refused",
    (scene) =>
      inEachImage(scene, async ({ files }) => {
        const large = Array.from({ length: 5 }, (_, index) => file(`${index}`, Buffer.alloc(8 * mebibyte)));
        const error = await failureOf(files.writeTree("/work", large), "POLICY_DENIED");
        expect(error.message).toContain("does not fit");
      }),
    needs,
  );

  behaviour(
    "file-trees.given-up",
    "a reader may stop early, and a writer may be cancelled",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh("mkdir /work/tree; cd /work/tree; head -c 4194304 /dev/zero >a; echo b >b");
        for await (const entry of files.readTree("/work/tree")) if (entry.path !== "") break;
        const unread: string[] = [];
        for await (const { path } of files.readTree("/work/tree")) unread.push(path);
        expect(unread.toSorted()).toEqual(["", "a", "b"]);
        const abort = new AbortController();
        const endless = (async function* (): AsyncGenerator<NewTreeEntry, void, undefined> {
          for (let index = 0; ; index++) {
            if (index === 5) abort.abort();
            yield file(`${index}`, "x");
          }
        })();
        await failureOf(files.writeTree("/work/new", endless, { signal: abort.signal }), "CANCELLED");
      }),
    needs,
  );

  behaviour(
    "file-trees.changing",
    "a tree can be copied out while a program changes it",
    (scene) =>
      inEachImage(scene, async ({ files, container, sh }) => {
        await sh("mkdir /work/tree; cd /work/tree; for i in 1 2 3 4 5 6 7 8; do head -c 262144 /dev/zero >$i; done");
        const command = ["sh", "-c", "echo go; cd /work/tree; while :; do echo more >>8; echo x >new; rm -f new; done"];
        const program = await container.exec({ command });
        program.stdin.end();
        await program.output[Symbol.asyncIterator]().next();
        for (let count = 0; count < 3; count++) {
          expect(Object.keys(await collect(files.readTree("/work/tree")))).toEqual(
            expect.arrayContaining(["1", "2", "3", "4", "5", "6", "7", "8"]),
          );
        }
      }),
    needs,
  );

  behaviour(
    "file-trees.packed",
    "a folder is packed and unpacked unchanged, with names of any bytes, links, FIFOs and permissions, and within a limit",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await sh("mkdir -p /work/from /work/to /work/none");
        await sh(`cd /work/from; mkdir -p a/b; printf 1 >a/b/c; chmod 640 a/b/c; ln -s ../out link; mkfifo fifo; ln a/b/c twin
printf 2 >"$(printf 'bad\\377')"; printf 3 >.hidden; printf 4 >-rf; chmod 750 a`);
        const maxBytes = mebibyte;
        await files.unpack("/work/to", files.pack("/work/from", { maxBytes }));
        const look =
          'cd "$1" && find . -exec ls -ld {} + | cut -c1-10 && find . | sort && cat a/b/c twin .hidden ./-rf bad*';
        const seen = async (folder: string): Promise<string> => sh(`set -- ${folder}; ${look}; readlink link`);
        expect(await seen("/work/to")).toBe(await seen("/work/from"));
        await files.unpack("/work/none", files.pack("/work/none", { maxBytes }));
        // Not `ls`: gVisor refuses a call that it makes.
        expect(await sh("cd /work/none; echo * .[!.]*")).toBe("* .[!.]*\n");
        await failureOf(bytesOf(files.pack("/work/from", { maxBytes: 1000 })), "POLICY_DENIED");
        await failureOf(bytesOf(files.pack("/work/absent", { maxBytes })), "NOT_FOUND");
        await sh("chmod 0 /work/from/a/b/c");
        await failureOf(bytesOf(files.pack("/work/from", { maxBytes })), "PERMISSION_DENIED");
      }),
    needs,
  );
};
