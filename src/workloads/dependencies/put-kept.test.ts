import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import type { NewTreeEntry, TreeEntry } from "../../sandbox/files/file-way.ts";
import { keptEntries } from "./put-kept.ts";

type Trees = Readonly<Record<string, readonly TreeEntry[]>>;

const common = { mode: 0o644, modifiedAtMs: 0 };
const folder = (path: string, mode = 0o755): TreeEntry => ({ ...common, kind: "folder", path, mode });
const file = (path: string, mode = 0o644): TreeEntry => ({
  ...common,
  ...{ kind: "file", path, mode, sizeBytes: 1 },
  chunks: (async function* () {
    yield Buffer.from("x");
  })(),
});

async function kept(trees: Trees, budget = new CopyBudget({})): Promise<readonly NewTreeEntry[]> {
  const files = {
    async *readTree(path: string): AsyncGenerator<TreeEntry, void, undefined> {
      const tree = trees[path];
      if (tree === undefined) throw new GloveboxError("NOT_FOUND", path);
      yield* tree;
    },
  };
  const entries: NewTreeEntry[] = [];
  const places = ["project/node_modules", "project/.pnp.cjs", "tools"];
  for await (const entry of keptEntries(files, places, { budget })) {
    if (entry.kind === "file") for await (const _ of entry.chunks);
    entries.push(entry);
  }
  return entries;
}

describe("what is kept of an installation", () => {
  it("has no bits that lend rights, no devices or pipes, and stands where it stood", async () => {
    const entries = await kept({
      "/work/project/node_modules": [
        folder("", 0o7000),
        file("a", 0o6755),
        { ...common, kind: "other", path: "pipe" },
        { ...common, kind: "link", path: "out", target: "/etc/passwd" },
        { ...common, kind: "hard-link", path: "b", target: "a" },
      ],
      "/work/project/.pnp.cjs": [file(".pnp.cjs")],
    });
    expect(entries.map(({ path, mode }) => [path, mode])).toEqual([
      ["project/node_modules", 0o700],
      ["project/node_modules/a", 0o755],
      ["project/node_modules/out", 0o644],
      ["project/node_modules/b", 0o644],
      ["project/.pnp.cjs", 0o644],
    ]);
    expect(entries.flatMap((entry) => ("target" in entry ? [entry.target] : []))).toEqual([
      "/etc/passwd",
      "project/node_modules/a",
    ]);
  });

  it.each([
    ["bytes", { maxBytes: 1 }, [folder(""), file("a"), file("b")]],
    ["entries", { maxEntries: 2 }, [folder(""), folder("a"), folder("b")]],
    ["folders in folders", {}, [folder(""), folder("a/".repeat(70))]],
  ])("is refused for too many %s", async (_, limits, tree) => {
    const work = kept({ "/work/tools": tree }, new CopyBudget(limits));
    await expect(work).rejects.toMatchObject({ errorType: "POLICY_DENIED" });
  });
});
