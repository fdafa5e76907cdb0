import { describe, expect, it } from "vitest";
import { assertNoneDenied, assertPackagesAllowed, packagePattern } from "./install-policy.ts";

const denied = (setting: string, name: string): object => ({
  errorType: "POLICY_DENIED",
  message: expect.stringContaining(name),
  suggestion: expect.stringContaining(setting),
  context: { field: "packages", package: name, setting },
});

describe("assertPackagesAllowed", () => {
  it.each([
    [["lodash@4", "@a/b"], "npm", { allow: [], deny: [] }],
    [["lodash@4", "@a/b"], "npm", { allow: ["lodash", "@a/*"], deny: ["zod"] }],
    [["pyyaml==6.0"], "python", { allow: ["PyYAML"], deny: ["npm:pyyaml"] }],
    [["zope-interface"], "python", { allow: ["python:zope.*"], deny: [] }],
  ] as const)("takes %j of %s under %j", (specs, ecosystem, policy) => {
    expect(() => assertPackagesAllowed(specs, ecosystem, policy)).not.toThrow();
  });

  it.each([
    [["lodash", "zod@4"], "npm", { allow: ["lodash"], deny: [] }, "packages.allow", "zod"],
    [["lodash"], "npm", { allow: ["python:lodash"], deny: [] }, "packages.allow", "lodash"],
    [["lodashx"], "npm", { allow: ["lodash"], deny: [] }, "packages.allow", "lodashx"],
    [["chartxjs"], "npm", { allow: ["chart.js"], deny: [] }, "packages.allow", "chartxjs"],
    [["@a/b@1"], "npm", { allow: ["*"], deny: ["@a/*"] }, "packages.deny", "@a/b"],
    [["py_yaml[x]==1"], "python", { allow: [], deny: ["Py.YAML"] }, "packages.deny", "py-yaml"],
  ] as const)("refuses of %j of %s under %j", (specs, ecosystem, policy, setting, name) => {
    expect(() => assertPackagesAllowed(specs, ecosystem, policy)).toThrow(
      expect.objectContaining(denied(setting, name)),
    );
  });

  it("refuses what came along only where it is denied", () => {
    expect(() => assertNoneDenied(["Six"], "python", { deny: ["sixth"] })).not.toThrow();
    expect(() => assertNoneDenied(["ms", "Six_x"], "python", { deny: ["six.x"] })).toThrow(
      expect.objectContaining(denied("packages.deny", "Six_x")),
    );
  });

  it("has patterns of names only", () => {
    expect(["lodash", "@a/*", "npm:zod", "python:PyYAML", "*"].every((each) => packagePattern.test(each))).toBe(true);
    expect(["", "a b", "lodash@4", "http://a", "-x", "cargo:a"].some((each) => packagePattern.test(each))).toBe(false);
  });
});
