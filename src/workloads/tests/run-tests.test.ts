import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTests, unlockedNote } from "./run-tests.ts";

const script = (test: string): string => JSON.stringify({ scripts: { test } });

describe("a project's own test command", () => {
  let folder = "";
  beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-find-tests-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const find = async (files: Readonly<Record<string, string>>): Promise<string> => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const { command, why } = await findTests({ stablePath: folder }, process.platform);
    expect(why).not.toBe("");
    return command;
  };

  it.each([
    ["npm test", { "package.json": script("jest") }],
    ["pnpm test", { "package.json": script("jest"), "pnpm-lock.yaml": "" }],
    ["yarn test", { "package.json": script("jest"), "yarn.lock": "" }],
    ["bun run test", { "package.json": script("bun test"), "bun.lock": "" }],
    [
      "npx vitest run",
      {
        "package.json": JSON.stringify({
          scripts: { test: 'echo "Error: no test specified" && exit 1' },
          devDependencies: { vitest: "5" },
        }),
      },
    ],
    ["npx jest", { "package.json": JSON.stringify({ devDependencies: { jest: "29" } }) }],
    ["npx mocha", { "package.json": JSON.stringify({ dependencies: { mocha: "12" } }) }],
    ["node --test", { "package.json": "{}", "a.test.js": "" }],
    ["bun test", { "bunfig.toml": "", "a.test.ts": "" }],
    ["go test ./...", { "go.mod": "module m" }],
    ["cargo test", { "Cargo.toml": "" }],
    ["python3 -m pytest", { "pytest.ini": "" }],
    ["python3 -m pytest", { "pyproject.toml": "[tool.pytest.ini_options]" }],
    ["python3 -m pytest", { "tests/test_a.py": "def test_a(): pass" }],
    ["python3 -m pytest", { "test_a.py": "import pytest\nimport unittest" }],
    ["python3 -m unittest", { "test_a.py": "import unittest\nclass A(unittest.TestCase): pass" }],
    ["python3 -m unittest discover -s tests", { "tests/test_a.py": "from unittest import TestCase" }],
    ["make test", { Makefile: "TEST := 1\ntest: build\n\ttrue\n" }],
  ])("is %s for %o", async (command, files: Readonly<Record<string, string>>) => {
    expect(await find(files)).toBe(command);
  });

  it.each([
    ["nothing", {}],
    ["a variable of that name in a Makefile", { Makefile: "test := 1\n" }],
    ["no JSON", { "package.json": "{" }],
    ["Python without tests", { "main.py": "import unittest" }],
  ])("cannot be found in %s, and the error says what would", async (_, files: Readonly<Record<string, string>>) => {
    await expect(find(files)).rejects.toMatchObject({ errorType: "INVALID_REQUEST", message: /script `test`/ });
  });

  it("is not read behind a link", async () => {
    const outside = mkdtempSync(path.join(os.tmpdir(), "glovebox-find-outside-"));
    writeFileSync(path.join(outside, "package.json"), script("jest"));
    symlinkSync(path.join(outside, "package.json"), path.join(folder, "package.json"));
    await expect(find({})).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    rmSync(outside, { recursive: true });
  });
});

const manifest = '{"devDependencies":{"jest":"29"}}';

it("tells of dependencies that no lockfile determines, with what helps", () => {
  expect(unlockedNote({ names: ["package.json"], manifest })).toMatch(/no lockfile.*--setup/s);
});

it.each([
  ["a lockfile", { names: ["package.json", "pnpm-lock.yaml"], manifest }],
  ["no dependencies", { names: ["package.json"], manifest: "{}" }],
  ["no manifest", { names: [], manifest: "" }],
  ["a broken manifest", { names: ["package.json"], manifest: "{" }],
])("tells nothing with %s", (_, project) => {
  expect(unlockedNote(project)).toBeNull();
});
