import type { LanguageName } from "../../src/languages/language-table.ts";
import { describe, expect, it } from "vitest";
import type { ErrorType } from "../../src/errors/catalogue.ts";
import { findImports } from "../../src/packages/find-imports.ts";

const host = { executable: process.execPath, platform: process.platform };

const find = async (
  language: LanguageName,
  files: Readonly<Record<string, string>>,
  options: { readonly signal?: AbortSignal; readonly executable?: string } = {},
): Promise<readonly string[]> => {
  const list = Object.entries(files).map(([path, content]) => ({ path, content }));
  const { needed, optional } = await findImports({ language, files: list }, { ...host, ...options });
  return [...needed, ...optional].toSorted();
};

const failing = (errorType: ErrorType): object => ({ name: "GloveboxError", errorType });

describe("findImports", () => {
  it("finds what each language imports, in a separate process", async () => {
    expect(await find("javascript", { "main.js": "import 'zod'; require('npm:ms@2.1.3')" })).toEqual([
      "ms@2.1.3",
      "zod",
    ]);
    expect(await find("typescript", { "a.tsx": "export const a = <p/>", "b.md": "import c" })).toEqual(["react"]);
    expect(await find("python", { "main.py": "import yaml, os, mine", "mine.py": "" })).toEqual(["PyYAML"]);
  });

  it("starts no process for code that cannot import", async () => {
    const options = { executable: "/does/not/exist" };
    expect(await find("python", { "main.py": "print(1)" }, options)).toEqual([]);
    const builtIn = "import os, json as j\nfrom a.b import c  # never\n";
    expect(await find("python", { "main.py": builtIn.replace("a.b", "os.path") }, options)).toEqual([]);
    expect(await find("javascript", { "main.js": "import fs, { a } from 'node:fs';\nArray.from(1)" }, options)).toEqual(
      [],
    );
    await expect(find("python", { "main.py": builtIn }, options)).rejects.toMatchObject(failing("INVALID_REQUEST"));
    await expect(find("python", { "main.py": "import a" }, options)).rejects.toMatchObject(failing("INVALID_REQUEST"));
  });

  it.each<[string, LanguageName, string, readonly string[]]>([
    ["NUL bytes", "python", "\0import a\0\nimport b", ["a", "b"]],
    ["lone surrogates", "javascript", "'\ud800'; import 'a'; import '\ud800'", ["a"]],
    [
      "names that would be options or addresses",
      "javascript",
      "import '-g'; import '--x=y'; import 'npm:a@file:b'",
      [],
    ],
    ["names of Object's own", "python", "import constructor, __proto__, toString", ["constructor", "toString"]],
    ["a chain of 5,000", "python", `import a\nx = ${"a+".repeat(5000)}1`, ["a"]],
    ["1,000 brackets", "javascript", `import 'a'; x = ${"[".repeat(1000)}${"]".repeat(1000)}`, ["a"]],
  ])("survives %s", async (_, language, content, expected) => {
    const name = language === "python" ? "main.py" : "main.js";
    expect(await find(language, { [name]: content })).toEqual(expected);
  });

  it.each<[string, LanguageName, string]>([
    ["nesting that breaks the parser", "javascript", `import 'a'; ${"[".repeat(1_000_000)}`],
    ["more code than a request holds", "python", `import a\n${"#".repeat(18_000_000)}`],
    ["too many packages", "javascript", Array.from({ length: 201 }, (_, index) => `import 'p${index}'`).join("\n")],
    [
      "a flood of packages",
      "javascript",
      Array.from({ length: 20_000 }, (_, index) => `import 'p${index}'`).join("\n"),
    ],
  ])("refuses %s", async (_, language, content) => {
    const name = language === "python" ? "main.py" : "main.js";
    await expect(find(language, { [name]: content })).rejects.toMatchObject(failing("INVALID_REQUEST"));
  });

  it("ends what takes too long or too much", { timeout: 60_000 }, async () => {
    const search = find("python", { "main.py": `import a\n${"(".repeat(2_000_000)}` });
    const errorType: unknown = expect.stringMatching(/^(TIMEOUT|INVALID_REQUEST)$/);
    await expect(search).rejects.toMatchObject({ name: "GloveboxError", errorType });
  });

  it("stops when its caller gives up", async () => {
    const content = `import a\n${"(".repeat(200_000)}${")".repeat(200_000)}`;
    const signal = AbortSignal.timeout(200);
    await expect(find("python", { "main.py": content }, { signal })).rejects.toMatchObject(failing("CANCELLED"));
  });
});
