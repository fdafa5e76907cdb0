import { describe, expect, it } from "vitest";
import { findImports, type FindImportsInput } from "./find-imports.ts";
import { KeptAnswers } from "./kept-answers.ts";

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
    const kept = new KeptAnswers();
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

  it("goes when 64 others have been asked for since", () => {
    const kept = new KeptAnswers();
    const answer = (number: number): void => kept.keep(`code ${number}`, { needed: [`p${number}`], optional: [] });
    for (let number = 0; number < 64; number += 1) answer(number);
    expect(kept.find("code 0")).toEqual({ needed: ["p0"], optional: [] });
    answer(64);
    expect(kept.find("code 1")).toBeNull();
    expect(kept.find("code 0")).not.toBeNull();
    expect(kept.find("code 64")).not.toBeNull();
  });
});
