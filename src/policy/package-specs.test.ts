import { describe, expect, it } from "vitest";
import { checkPackages, ecosystemOf, packageName } from "./package-specs.ts";

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
