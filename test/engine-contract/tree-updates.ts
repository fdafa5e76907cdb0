import { expect } from "vitest";
import type { NewTreeEntry } from "../../src/sandbox/files/file-way.ts";
import type { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { failureOf } from "../helpers/failure-of.ts";
import type { Topic } from "./behaviour.ts";
import { inEachImage } from "./in-each-image.ts";

const needs = { capability: "programs", timeoutMs: 120_000 } as const;
const target = "/work/copy";

function file(path: string, text: string, mode = 0o644): NewTreeEntry {
  const content = Buffer.from(text);
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield content;
  };
  return { kind: "file", path, mode, modifiedAtMs: 1_000_000, sizeBytes: content.length, chunks: chunks() };
}

function folder(path: string): NewTreeEntry {
  return { kind: "folder", path, mode: 0o755, modifiedAtMs: 1_000_000 };
}

function link(path: string, to: string): NewTreeEntry {
  return { kind: "link", path, mode: 0o777, modifiedAtMs: 1_000_000, target: to };
}

function update(files: SandboxFiles, entries: readonly NewTreeEntry[], gone: readonly string[] = []): Promise<void> {
  return files.update(target, { entries, gone, goneFolders: [] });
}

/** Every path of the copy with its content or target, in byte order. */
const show = `cd /work/copy && find . -mindepth 1 | LC_ALL=C sort | while read -r each; do
  if [ -L "$each" ]; then echo "$each -> $(readlink "$each")"
  elif [ -d "$each" ]; then echo "$each/"
  else echo "$each = $(cat "$each")"
  fi
done`;

/** A tree inside is updated while programs work on it. */
export const treeUpdates: Topic = (behaviour) => {
  behaviour(
    "tree-updates.kinds",
    "files, folders and links appear, change into each other and disappear; what programs have made is kept",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await update(files, [folder("empty"), file("a/b/deep", "1"), file("plain", "1"), link("link", "plain")]);
        await sh("cd /work/copy && echo own >a/own && mkdir a/b/made && echo own >a/b/made/file && echo own >plain");
        await files.update(target, {
          entries: [file("a/b/deep", "2", 0o755), file("empty", "a file now"), file("link/inside", "a folder now")],
          gone: ["gone before", "a/gone", "plain"],
          goneFolders: ["a/b", "a"],
        });
        expect((await sh(show)).split("\n")).toEqual([
          ...["./a/", "./a/b/", "./a/b/deep = 2", "./a/b/made/", "./a/b/made/file = own", "./a/own = own"],
          ...["./empty = a file now", "./link/", "./link/inside = a folder now", ""],
        ]);
        await files.update(target, {
          entries: [link("empty", "a"), file("link", "a file again"), file("new\\nline", "1"), file("-rf *", "2")],
          gone: ["a/b/deep", "a/own", "a/b/made/file"],
          goneFolders: ["a/b/made", "a/b", "a"],
        });
        expect(await sh("cd /work/copy && ls -A && readlink empty && cat link './-rf *' && cd .. && ls -A")).toBe(
          "-rf *\nempty\nlink\nnew\\nline\na\na file again2copy\n",
        );
        expect(await sh("[ -x /work/copy ] && [ -e /work/copy/a ] || echo gone")).toBe("gone\n");
      }),
    needs,
  );

  behaviour(
    "tree-updates.many",
    "names that a shell could misread are copied, and more of them than a command line can hold",
    (scene) =>
      inEachImage(
        scene,
        async ({ files, sh }) => {
          const names = Array.from({ length: 600 }, (_, n) => `many/${"x".repeat(60)}-${n}`);
          const strange = [
            "new\nline",
            "\nfirst",
            "-rf",
            "--",
            "*",
            "quote'\"$(false)`;&|",
            "back\\slash",
            ".hidden",
            "..x",
          ];
          await update(files, [folder("many"), file("many/first", "1")]);
          await update(
            files,
            [...names, ...strange].map((name) => file(name, name)),
          );
          expect(await sh("cd /work/copy/many && ls -A | wc -l && cd .. && cat ./-rf ./'new\nline' .hidden")).toMatch(
            /^\s*601\n-rfnew\nline.hidden$/,
          );
          await files.update(target, {
            entries: [],
            gone: [...names, ...strange, "many/first"],
            goneFolders: ["many"],
          });
          expect(await sh("cd /work/copy && ls -A")).toBe("");
        },
        { scratch: [{ path: "/work", sizeBytes: 64 * 1024 * 1024 }] },
      ),
    { ...needs, timeoutMs: 240_000 },
  );

  behaviour(
    "tree-updates.traps",
    "links that programs put in the tree's way are replaced and not followed, even in place of its own folder",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await update(files, [file("src/kept", "1"), file("src/deep/kept", "1"), file("other/kept", "1")]);
        await sh(`mkdir /work/elsewhere /work/elsewhere/deep && cd /work/elsewhere && echo mine >kept && echo mine >deep/kept
          cd /work/copy && rm -rf src other && ln -s ../elsewhere src && ln -s ../elsewhere other`);
        await files.update(target, {
          entries: [file("src/deep/new", "2")],
          gone: ["other/kept", "other/deep/kept"],
          goneFolders: ["other/deep"],
        });
        expect(
          await sh(
            "cd /work/elsewhere && find . -type f | LC_ALL=C sort | xargs cat; [ ! -L /work/copy/src ] && echo replaced; true",
          ),
        ).toBe("mine\nmine\nreplaced\n");
        await sh("rm -rf /work/copy && ln -s /work/elsewhere /work/copy");
        await update(files, [file("new", "3")]);
        expect(await sh("cd /work/elsewhere && ls -A")).toBe("deep\nkept\n");
        expect(await sh("cat /work/copy/new")).toBe("3");
      }),
    needs,
  );

  behaviour(
    "tree-updates.full",
    "a full sandbox is reported, and each file is either the old or the new one",
    (scene) =>
      inEachImage(scene, async ({ files, sh }) => {
        await update(files, [file("a", "old"), file("b", "old")]);
        await sh("dd if=/dev/zero of=/work/fill bs=65536 2>/dev/null; true");
        const big = "new".repeat(200_000);
        await failureOf(update(files, [file("a", big), file("b", big)]), "POLICY_DENIED");
        expect(await sh("cat /work/copy/a /work/copy/b; cd /work && ls -A | wc -l")).toMatch(/^oldold\s*2\n$/);
        await sh("rm /work/fill");
        await update(files, [file("a", "new")]);
        expect(await sh("cat /work/copy/a")).toBe("new");
      }),
    needs,
  );
};
