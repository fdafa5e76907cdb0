import { describe, expect, it } from "vitest";
import { hasFailed, testTree, type TestGroup } from "./tests-view.tsx";

const failure = { name: "sums", file: "a.test.js", line: 4, message: "2 !== 3", details: "at a" };
const ctrf = (tests: readonly object[]): string => JSON.stringify({ results: { tests } });
const names = ({ groups, tests }: TestGroup): unknown => [
  ...tests.map(({ name, state }) => `${name}: ${state}`),
  ...groups.map((group) => ({ [group.name]: names(group) })),
];

describe("the tree of a test report", () => {
  it("has the failures in their files where that is all that is known", () => {
    const { root, isWhole } = testTree(undefined, [failure]);
    expect(isWhole).toBe(false);
    expect(names(root)).toEqual([{ "a.test.js": ["sums: failed"] }]);
  });

  it("has every test in its groups, failures first", () => {
    const { root, isWhole } = testTree(
      ctrf([
        { name: "good", status: "passed", rawStatus: "passed", filePath: "b.test.js", suite: ["b.test.js", "group"] },
        { name: "later", status: "pending", rawStatus: "todo", filePath: "b.test.js" },
        { name: "loads", status: "failed", rawStatus: "error", filePath: "c.test.js" },
      ]),
      [],
    );
    expect(isWhole).toBe(true);
    expect(names(root)).toEqual([
      { "c.test.js": ["loads: error"] },
      { "b.test.js": ["later: todo", { group: ["good: passed"] }] },
    ]);
    expect(root.counts).toMatchObject({ passed: 1, todo: 1, error: 1 });
    expect(root.groups.map(hasFailed)).toEqual([true, false]);
  });

  it.each([
    ["no JSON", "{"],
    ["another form", "[]"],
    ["tests that are none", '{"results":{"tests":[null]}}'],
  ])("falls back to the failures for %s", (_, text) => {
    expect(testTree(text, [failure]).isWhole).toBe(false);
  });

  it("takes names of objects' own members for names, and bounds the depth", () => {
    const suite = ["__proto__", "constructor", ...Array.from({ length: 1_000 }, (_, index) => `g${index}`)];
    const { root } = testTree(ctrf([{ name: "x", rawStatus: "failed", suite }]), []);
    let depth = 0;
    for (let group: TestGroup | undefined = root; group !== undefined; group = group.groups[0]) depth += 1;
    expect(depth).toBeLessThan(20);
    expect(root.groups[0]?.name).toBe("__proto__");
  });
});
