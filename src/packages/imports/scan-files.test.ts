import { describe, expect, it } from "vitest";
import {
  answersOf,
  comparableNames,
  importSamplesPresent,
  readImportSamples,
} from "../../../test/helpers/import-samples.ts";
import { scanFiles } from "./scan-files.ts";
import type { ScanRequest, SourceFile } from "./scan-request.ts";

function scan(language: ScanRequest["language"], files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const list: SourceFile[] = Object.entries(files).map(([path, content]) => ({ path, content }));
  return scanFiles({ language, files: list, paths: Object.keys(files) });
}

describe("scanFiles", () => {
  it("sorts what the files import and says each once", async () => {
    const files = { "main.mjs": "import 'zod'; import 'ms'", "lib/a.cjs": "require('ms'); require('@a/b/c')" };
    expect(await scan("javascript", files)).toEqual(["@a/b", "ms", "zod"]);
  });

  it("takes a version that one import says", async () => {
    const files = {
      "a.js": "import 'chalk'; import '@a/b'",
      "b.js": "import 'npm:chalk@5.3.0'; import 'npm:@a/b@1/c'",
    };
    expect(await scan("javascript", files)).toEqual(["@a/b@1", "chalk@5.3.0"]);
  });

  it("reads both languages of the npm registry together", async () => {
    expect(await scan("typescript", { "main.ts": "import './b.js'; import 'ms'", "b.js": "require('zod')" })).toEqual([
      "ms",
      "zod",
    ]);
  });

  it("leaves out the program's own modules", async () => {
    const files = {
      "main.py": "import helpers, yaml, requests, pkg.part, nothing",
      "helpers.py": "",
      "pkg/part.py": "import inner, helpers, yaml",
      "pkg/inner.py": "",
      "other/requests.py": "import numpy",
      "nothing/data.txt": "",
    };
    expect(await scan("python", files)).toEqual(["PyYAML", "nothing", "numpy", "requests"]);
  });

  it("gives nothing for a program that imports nothing", async () => {
    expect(await scan("python", { "main.py": "print(1)" })).toEqual([]);
    expect(await scan("javascript", {})).toEqual([]);
  });
});

describe("scanFiles on the samples of ../shared/corpus", () => {
  const endings = { python: "py", javascript: "js", typescript: "ts" };

  it("finds the packages that each needs", async (context) => {
    if (!importSamplesPresent) context.skip("the samples are not beside this checkout (../shared/corpus)");
    const samples = readImportSamples();
    expect(samples.length).toBeGreaterThanOrEqual(35);
    const wrong: object[] = [];
    for (const sample of samples) {
      const found = comparableNames(await scan(sample.language, { [`main.${endings[sample.language]}`]: sample.code }));
      const isRight = answersOf(sample).some((answer) => JSON.stringify(answer) === JSON.stringify(found));
      if (!isRight) wrong.push({ id: sample.id, found });
    }
    expect(wrong).toEqual([]);
  });
});
