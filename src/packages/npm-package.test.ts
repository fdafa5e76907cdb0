import { describe, expect, it } from "vitest";
import { isNpmPackage, npmPackage } from "./npm-package.ts";

describe("npmPackage", () => {
  it.each([
    ["lodash", "lodash"],
    ["lodash/get", "lodash"],
    ["@scope/name", "@scope/name"],
    ["@scope/name/sub/path.js", "@scope/name"],
    ["JSONStream", "JSONStream"],
    ["chart.js", "chart.js"],
    ["test", "test"],
    ["punycode/", "punycode"],
    ["npm:chalk", "chalk"],
    ["npm:chalk@5.3.0", "chalk@5.3.0"],
    ["npm:chalk@^5/sub", "chalk@^5"],
    ["npm:/chalk@latest", "chalk@latest"],
    ["npm:@scope/p@1/sub", "@scope/p@1"],
    ["npm:fs@1", "fs@1"],
    ["constructor", "constructor"],
  ])("%s needs %s", (specifier, name) => {
    expect(npmPackage(specifier)).toBe(name);
  });

  it.each([
    ...["fs", "fs/promises", "node:fs", "node:test", "bun", "bun:test", "bun/x", "#internal", "#internal/a"],
    ...["./a", "../a", ".", "..", "/a", "C:\\a", "data:text/javascript,1", "https://a.example/b.js", "//a.example/b"],
    ...["jsr:@std/path", "file:a", "git+ssh://a", "link:../a", "@/components", "@scope", "~/a", "", " ", "a b", "a\0"],
    ...["-g", "--registry=x", "_a", ".a", "a@1", "pkg?raw", "node_modules", "é", "\ud800", "a\nb", "a".repeat(215)],
    ...["npm:", "npm:a@", "npm:a@file:b", "npm:a@git+ssh", "npm:a@1 2", "npm:-g@1", `npm:a@${"1".repeat(65)}`],
  ])("%j needs none", (specifier) => {
    expect(npmPackage(specifier)).toBeNull();
  });

  it("knows its own answers, and no others", () => {
    expect(["lodash", "@a/b", "a@1.2.3", "@a/b@^1"].every(isNpmPackage)).toBe(true);
    expect(["lodash/get", "fs/", "-g", "a@file:b", "@a", "", "a b", "npm:a"].some(isNpmPackage)).toBe(false);
  });
});
