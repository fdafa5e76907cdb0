import os from "node:os";
import path from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseGitIgnore } from "./ignore-rules.ts";

const decide = (rules: string, name: string, isFolder = false): string | null =>
  parseGitIgnore(Buffer.from(rules)).decide(name, isFolder);

/** Without what the owner of this machine has git ignore. */
const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  execFileSync("git", ["init", "--quiet", folder], { env: environment });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What git says of paths of files: the rule that decides, by its line; empty for none. */
function gitSays(rules: string, names: readonly string[]): readonly (string | null)[] {
  writeFileSync(path.join(folder, ".gitignore"), rules);
  // It exits with 1 where no path is ignored.
  const said = spawnSync("git", ["check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"], {
    cwd: folder,
    input: names.map((name) => `${name}\0`).join(""),
    env: environment,
  });
  const fields = said.stdout.toString("utf8").split("\0");
  return names.map((_, index) => {
    const pattern = fields[index * 4 + 2] ?? "";
    if (pattern === "") return null;
    return pattern.startsWith("!") ? "kept" : "ignored";
  });
}

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number, never, undefined> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 8;
  }
}

describe("parseGitIgnore", () => {
  it("decides as git does, for generated rules and paths", () => {
    const next = numbers(7);
    const pick = <T>(list: readonly T[]): T => list[next.next().value % list.length] as T;
    const many = (most: number, make: () => string): string =>
      Array.from({ length: 1 + (next.next().value % most) }, make).join("");
    const pieces = [
      ...["a", "b", "a", "b", "c", ".", "/", "/", "*", "*", "**", "**/", "/**", "/**/", "?", "[ab]", "[!a]", "[^b]"],
      ...["[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[[:digit:]b]", "[\\]]", "\\a", "\\*", "\\", "[", "]", " ", "\\ "],
      ...["é", "[é]", "-", "!", "#", "[b-a]", "[[:no:]]", "[/]", "1"],
    ];
    const names = [
      "a",
      "b",
      "c",
      "ab",
      "ba",
      "a.b",
      "aab",
      ".a",
      "é",
      "a b",
      "a ",
      "*",
      "]",
      "-",
      "a1",
      "1",
      "!a",
      "#a",
    ];
    let fits = 0;
    for (let round = 0; round < 60; round += 1) {
      const rules = many(
        40,
        () =>
          `${pick(["", "", "", "!", "/", "#", "!/"])}${many(6, () => pick(pieces))}${pick(["", "", "/", " ", "\\ ", "\r"])}\n`,
      );
      // Only names at the top, and paths whose folders no rule ignores: git decides a path in one by its folder.
      const paths = Array.from({ length: 60 }, () =>
        Array.from({ length: 1 + (next.next().value % 4) }, () => pick(names)).join("/"),
      );
      const parsed = parseGitIgnore(Buffer.from(rules));
      const isReached = (each: string): boolean =>
        each
          .split("/")
          .every(
            (_, index, parts) => index === 0 || parsed.decide(parts.slice(0, index).join("/"), true) !== "ignored",
          );
      const reached = [...new Set(paths)].filter(isReached);
      const said = gitSays(rules, reached);
      fits += said.filter((each) => each !== null).length;
      expect({ rules, said: reached.map((each) => [each, parsed.decide(each, false)]) }).toEqual({
        rules,
        said: reached.map((each, index) => [each, said[index]]),
      });
    }
    expect(fits).toBeGreaterThan(300);
  });

  it("takes folders by rules that end with a slash, and files by none of those", () => {
    mkdirSync(path.join(folder, "build/deep"), { recursive: true });
    for (const rules of ["build/\n", "bu*/\n", "*d/\n", "build/*/\n", "build/**/deep/\n"]) {
      const [build, deep] = gitSays(rules, ["build", "build/deep"]);
      expect([rules, decide(rules, "build", true)]).toEqual([rules, build]);
      expect([rules, build === null ? decide(rules, "build/deep", true) : deep]).toEqual([rules, deep]);
      expect([decide(rules, "build"), decide(rules, "build/deep")]).toEqual([null, null]);
    }
  });

  it.each([
    ["stars in a name", `${"*a".repeat(2_000)}b`, "a".repeat(255)],
    ["folders in a path", `${"**/a/".repeat(800)}b`, `${"a/".repeat(2_000)}c`],
    ["stars in folders", `x/${"*a*/".repeat(1_000)}b`, `x/${"aaa/".repeat(1_000)}c`],
  ])("answers where a search would run for ever: %s", (_, rule, name) => {
    expect(decide(rule, name)).toBeNull();
  });

  it("looks up plain names and endings, however many there are", () => {
    const rules = Array.from({ length: 40_000 }, (_, index) => `name${index}\n*.e${index}\n/p/${index}\n`).join("");
    const parsed = parseGitIgnore(Buffer.from(rules));
    expect(parsed.wildBytes).toBe(0);
    expect(parsed.decide("x/name39999", false)).toBe("ignored");
    expect(parsed.decide("x/y.e7", false)).toBe("ignored");
    expect(parsed.decide("p/7", false)).toBe("ignored");
    expect(parsed.decide("x/p/7", false)).toBeNull();
  });
});
