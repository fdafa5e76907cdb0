import { describe, expect, it } from "vitest";
import { Kept } from "../base/kept.ts";
import { findImports, keptAnswers, type FindImportsInput } from "./find-imports.ts";
import type { ImportedPackages } from "./imported-packages.ts";

const { platform } = process;
const input: FindImportsInput = {
  language: "python",
  files: [
    { path: "main.py", content: "import yaml, mine" },
    { path: "notes.txt", content: "one" },
  ],
};
const [main, notes] = input.files;
const found = { needed: ["PyYAML", "mine"], optional: [] };

describe("an answer that is kept", () => {
  it("needs no second process for the same code, and a failure is not one", async () => {
    const kept = new Kept<ImportedPackages>(keptAnswers);
    const find = (what: FindImportsInput, executable: string, signal?: AbortSignal): Promise<object> =>
      findImports(what, { kept, executable, platform, signal });
    const missing = "/nonexistent/node";
    await expect(find(input, missing)).rejects.toBeInstanceOf(Error);
    expect(await find(input, process.execPath)).toEqual(found);
    expect(await find(input, missing)).toEqual(found);
    expect(
      await find({ ...input, files: [main!, { ...notes!, content: "two" }] }, missing),
      "nothing is read in a file of another language",
    ).toEqual(found);
    await expect(find(input, missing, AbortSignal.abort())).rejects.toMatchObject({ errorType: "CANCELLED" });
    const others: readonly FindImportsInput[] = [
      { ...input, files: [{ ...main!, content: "import yaml, mine " }, notes!] },
      { ...input, files: [main!, { ...notes!, path: "mine.py" }] },
      { ...input, files: [{ ...main!, path: "other.py" }, notes!] },
      { ...input, files: [notes!, main!] },
    ];
    const answers = await Promise.allSettled(others.map((other) => find(other, missing)));
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => "rejected"));
  });
});
