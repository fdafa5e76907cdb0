import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { builtInPatterns } from "../policy/mounts/blocked-pattern.ts";
import { mountRules } from "../policy/mounts/mount-verdict.ts";
import { parseAllowlist, homePlaces, systemPlaces } from "./load-mount-policy.ts";

const documented = readFileSync(new URL("../../docs/mounts.md", import.meta.url), "utf8");
const section = (title: string): string => documented.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

describe("docs/mounts.md", () => {
  it("lists the built-in patterns, all of them and no other", () => {
    const rows = section("Blocked patterns")
      .split("\n")
      .filter((line) => /^\| .*`/.test(line));
    expect(rows).toEqual(builtInPatterns.map(({ what, patterns }) => `| ${what} | ${quoted(patterns)} |`));
  });

  it("has no pattern twice", () => {
    const all = builtInPatterns.flatMap(({ patterns }) => patterns);
    expect(all.filter((pattern, index) => all.indexOf(pattern) !== index)).toEqual([]);
    expect(all.filter((pattern) => pattern !== pattern.toLowerCase())).toEqual([]);
  });

  it("explains each rule", () => {
    const rows = [...section("Rules").matchAll(/^\| `([a-z-]+)` \| (?:Allowed|Refused)/gm)].map(([, rule]) => rule);
    expect(rows).toEqual([...mountRules]);
  });

  it("lists the protected places", () => {
    const text = section("Protected places").replaceAll(/\s+/g, " ");
    expect(text).toContain(`Of the system: ${quoted(systemPlaces.map(([place]) => place))}.`);
    expect(text).toContain(`Of the home directory: ${quoted(homePlaces)}.`);
  });

  it("shows an allowlist that is valid", () => {
    const [, example = ""] = /```json\n([^`]*)```/.exec(documented) ?? [];
    expect(parseAllowlist(example, "example").allowedRoots).toHaveLength(2);
  });
});
