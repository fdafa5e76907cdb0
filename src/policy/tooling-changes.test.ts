import { describe, expect, it } from "vitest";
import { compareTooling, pathOfTooling, shortenTooling, type ChangedToolingFile } from "./tooling-changes.ts";

describe("compareTooling", () => {
  it("names a replaced folder beside its files, and no folder that only came with them", () => {
    const before = new Map([
      [".git", "1"],
      [".git/config", "2"],
    ]);
    const after = new Map([
      [".git", "3"],
      [".git/config", "4"],
      [".vscode", "5"],
      [".vscode/tasks.json", "6"],
    ]);
    expect(compareTooling(before, after)).toEqual([
      { path: ".git", change: "changed" },
      { path: ".git/config", change: "changed" },
      { path: ".vscode/tasks.json", change: "new" },
    ]);
  });

  it("shows characters that could forge a line as escapes", () => {
    const after = new Map([[".claude/a\r\n\u009b\u202e\u2028", "1"]]);
    expect(compareTooling(new Map(), after)[0]?.path).toBe(".claude/a\\u{d}\\u{a}\\u{9b}\\u{202e}\\u{2028}");
  });
});

describe("shortenTooling", () => {
  const files = (folder: string, count: number): readonly ChangedToolingFile[] =>
    Array.from({ length: count }, (_, index) => ({ path: `${folder}/${index}`, change: "new" }));

  it("names the folder where many files of it have changed, so that nothing else is crowded out", () => {
    const config: ChangedToolingFile = { path: ".git/config", change: "changed" };
    const changed = [...files(".claude", 500), ...files(".claude/a", 500), ...files("lib/x/.git/hooks", 9), config];
    expect(shortenTooling(changed, 5_000)).toEqual([
      { path: ".claude", change: "changed" },
      { path: "lib/x/.git/hooks", change: "changed" },
      config,
    ]);
  });

  it("does not take folders of two roots for one", () => {
    const of = (root: string): readonly ChangedToolingFile[] => files(".claude", 9).map((file) => ({ ...file, root }));
    const changed = [...of("/a"), ...of("/b"), ...files(".claude", 1)];
    expect(shortenTooling(changed, 100).map(pathOfTooling)).toEqual(["/a/.claude", "/b/.claude", ".claude/0"]);
  });

  it("names folders only before it leaves anything out", () => {
    const changed = Array.from({ length: 30 }, (_, index) => files(`.${index}`, 5)).flat();
    expect(shortenTooling(changed, 100)).toHaveLength(30);
    expect(shortenTooling(changed, 10)).toHaveLength(10);
  });
});
