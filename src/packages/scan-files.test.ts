import { describe, expect, it } from "vitest";
import {
  answersOf,
  comparableNames,
  importSamplesPresent,
  readImportSamples,
} from "../../test/helpers/import-samples.ts";
import { scanFiles } from "./scan-files.ts";
import type { ImportedPackages, ScanRequest, SourceFile } from "./imported-packages.ts";

function scanParted(
  language: ScanRequest["language"],
  files: Readonly<Record<string, string>>,
): Promise<ImportedPackages> {
  const list: SourceFile[] = Object.entries(files).map(([path, content]) => ({ path, content }));
  const paths = Object.keys(files);
  return scanFiles({ language, files: list, paths, main: paths[0] ?? "" });
}

async function scan(
  language: ScanRequest["language"],
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const { needed, optional } = await scanParted(language, files);
  return [...needed, ...optional].toSorted();
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

  it.each<[ScanRequest["language"], string, string, string]>([
    ["python", "import a\nx = 1; from b import c\nclass D:\n  import d", "a b d", ""],
    ["python", "try:\n  import a\nexcept ImportError:\n  import b", "", "a b"],
    ["python", "if x:\n  import a\ndef f():\n  import b\nwith suppress(ImportError): import c", "", "a b c"],
    ["python", "import a\ntry:\n  import a\nexcept ImportError: pass\nimport e", "a e", ""],
    ["python", "m = __import__('a')\nn = __import__('b') if x else None", "a", "b"],
    ["javascript", "import 'a'; export * from 'b'; const c = require('c'); await import('d')", "a b c d", ""],
    ["javascript", "try { require('a') } catch { require('b') }", "", "a b"],
    ["javascript", "if (x) require('a'); x && require('b'); x ? require('c') : 0; () => require('d')", "", "a b c d"],
    ["javascript", "await import('a').catch(() => null); import('b').then(f)", "", "a b"],
    ["javascript", "import 'a'; try { require('npm:a@1') } catch {}", "a@1", ""],
  ])("tells of %s what the program cannot run without: %j", async (language, source, needed, optional) => {
    const main = language === "python" ? "main.py" : "main.js";
    const found = await scanParted(language, { [main]: source });
    expect([found.needed.join(" "), found.optional.join(" ")]).toEqual([needed, optional]);
  });

  it("takes what other files import for optional: they may be in no use", async () => {
    const files = { "main.py": "import zod, other", "other.py": "import yaml, zod" };
    expect(await scanParted("python", files)).toEqual({ needed: ["zod"], optional: ["PyYAML"] });
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
