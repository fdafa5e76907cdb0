import { describe, expect, it } from "vitest";
import { choosesNodeReporter, reporterVariables } from "./command-variables.ts";

const all = { nodeTest: true, bun: true };

describe("reporters that are added by variables", () => {
  it("stand before what the caller has set, and ours are named apart, so that they can be taken out again", () => {
    const variables = reporterVariables({ NODE_OPTIONS: "--no-warnings", PYTHONPATH: "src" }, all, []);
    expect(variables["NODE_OPTIONS"]).toBe(`${variables["GLOVEBOX_NODE_OPTIONS"]} --no-warnings`);
    expect(variables["GLOVEBOX_NODE_OPTIONS"]).toMatch(/^--require=/);
    expect(variables["PYTHONPATH"]).toMatch(/^\/work\/.+:src$/);
    // A plugin that Python cannot import ends pytest, so pytest hears of ours only where it was found.
    expect(variables["PYTEST_PLUGINS"]).toBeUndefined();
  });

  it("leave out Node's where the command brings its own, and Bun's where none is expected", () => {
    expect(reporterVariables({}, all, [])["NODE_OPTIONS"]).toContain("--test-reporter=spec");
    expect(reporterVariables({}, { ...all, nodeTest: false }, [])["NODE_OPTIONS"]).not.toContain("--test-reporter");
    expect(reporterVariables({}, { ...all, bun: false }, [])["BUN_OPTIONS"]).toBeUndefined();
  });

  it("name some tests only, without a character that a variable would have to quote", () => {
    const only = ['a suite > takes "<b>" é日', "example.com/shop > TestTakes/one two"];
    const variables = reporterVariables({}, all, only);
    const pattern = / --test-name-pattern=([\w\\^$()|:?>]+)$/;
    const found = pattern.exec(variables["NODE_OPTIONS"] ?? "")?.[1] ?? "";
    expect('a suite takes "<b>" é日').toMatch(new RegExp(found));
    expect('a suite takes "<b>" é日!').not.toMatch(new RegExp(found));
    expect(variables["BUN_OPTIONS"]).toMatch(pattern);
    // The second failure of one name.
    const second = reporterVariables({}, all, ["adds up #2"])["NODE_OPTIONS"] ?? "";
    expect("adds up").toMatch(new RegExp(pattern.exec(second)?.[1] ?? "-"));
    expect(variables["GLOVEBOX_TEST_ONLY_GO"]).toContain("|TestTakes)$");
    expect(reporterVariables({}, all, [])["GLOVEBOX_TEST_ONLY"]).toBeUndefined();
  });

  it("know a command that brings its own", () => {
    expect(choosesNodeReporter("node --test --test-reporter=tap")).toBe(true);
    expect(choosesNodeReporter("node --test")).toBe(false);
  });
});
