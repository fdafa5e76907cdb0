import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { explainRefusedWrite, type WriteRules } from "./environment.ts";

const open: WriteRules = { isProjectReadOnly: false, isRootReadOnly: false, locked: [] };

describe("a refused write", () => {
  it.each<[string, Partial<WriteRules>, RegExp]>([
    ["/workdir/a", { isProjectReadOnly: true }, /\(read_only\)/],
    ["/workdir/.git/config", { locked: [".git/config"] }, /tooling_files is locked.*\.git\/config/],
    ["/workdir/x/../.git/hooks/pre-commit", { locked: [".git/hooks"] }, /locked/],
    ["/workdir/.github", { locked: [".git"] }, /owner of the project/],
    ["/usr/x", {}, /more rights/],
    ["/workdir2/x", { isRootReadOnly: true }, /\(read_only_root\)/],
  ])("of %s with %j is explained", (path, rules, words) => {
    const error = new GloveboxError("PERMISSION_DENIED", "no", { context: { path } });
    const explained = explainRefusedWrite(error, { ...open, ...rules });
    expect(explained).toMatchObject({ errorType: "PERMISSION_DENIED", message: "no", context: { path } });
    expect((explained as GloveboxError).suggestion).toMatch(words);
  });

  it("that is none stays as it is", () => {
    for (const error of [new Error("x"), new GloveboxError("NOT_FOUND", "no")]) {
      expect(explainRefusedWrite(error, open)).toBe(error);
    }
  });
});
