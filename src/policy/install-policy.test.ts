import { describe, expect, it } from "vitest";
import {
  assertNoneDenied,
  assertPackagesAllowed,
  packagePattern,
  checkPackages,
  ecosystemOf,
  packageName,
} from "./install-policy.ts";

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

describe("checkPackages", () => {
  it("makes one list of one wish, in whatever order and spelling it comes", () => {
    expect(checkPackages(["zod", "npm:lodash@4.17.21", " @scope/a ", "zod"], "npm")).toEqual([
      "@scope/a",
      "lodash@4.17.21",
      "zod",
    ]);
    expect(checkPackages(["PyYAML == 6.0", "requests[Socks] >=2, <3", "ruamel.yaml"], "python")).toEqual([
      "pyyaml==6.0",
      "requests[socks]>=2,<3",
      "ruamel-yaml",
    ]);
  });

  it.each(["lodash@^4", "a@latest", "a@1.0.0-rc.1+build", "@a/b@~1.2", "lodash.merge", "JSONStream@>=1"])(
    "takes npm's %s",
    (spec) => {
      expect(checkPackages([spec], "npm")).toEqual([spec]);
    },
  );

  it.each([
    "",
    "-g",
    "--registry=x",
    "../escape",
    "/etc/passwd",
    "a/b",
    "@a",
    "git+ssh://host/x",
    "https://host/x.tgz",
    "file:x",
    "a@file:..",
    "a@npm:b",
    "a@https://host/x",
    "a b",
    "a;b",
    "a\nb",
    "a@1 || 2",
    "x".repeat(301),
  ])("refuses npm's %j", (spec) => {
    expect(() => checkPackages([spec], "npm")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: expect.objectContaining({ field: "packages[0]" }),
      }),
    );
  });

  it.each([
    "",
    "-r x",
    "--index-url=x",
    "a @ https://host/x.whl",
    "git+https://host/x",
    "./x",
    "x.whl/",
    "a==1; python_version<'3'",
    "a@1.0",
    "a\u0000",
  ])("refuses Python's %j", (spec) => {
    expect(() => checkPackages([spec], "python")).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });

  it("refuses two versions of one package, and too many", () => {
    expect(() => checkPackages(["a@1", "a@2"], "npm")).toThrow('"a@1" and "a@2"');
    expect(() => checkPackages(["A_b==1", "a-b"], "python")).toThrow("each package once");
    expect(() =>
      checkPackages(
        Array.from({ length: 201 }, (_, index) => `p${index}`),
        "npm",
      ),
    ).toThrow("at most 200");
  });
});

describe("packageName", () => {
  it("leaves the version out", () => {
    expect(packageName("@a/b@1.0.0", "npm")).toBe("@a/b");
    expect(packageName("PyYAML==6", "python")).toBe("pyyaml");
  });
});

describe("ecosystemOf", () => {
  it("tells by the language", () => {
    expect(["python", "javascript", "typescript"].map((language) => ecosystemOf(language as "python"))).toEqual([
      "python",
      "npm",
      "npm",
    ]);
  });
});
