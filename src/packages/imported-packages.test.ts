import { describe, expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { installFailed } from "./install.ts";
import { OptionalPackages, withWayOut } from "./imported-packages.ts";

const both = { needed: ["numpy"], optional: ["nope", "PyYAML"] };
const none = { needed: [], optional: ["nope", "PyYAML"] };
const unreachable = (packages: readonly string[]): GloveboxError =>
  installFailed(packages, "no registry", { context: { retryable: true } });

/** The packages of each try, until nothing is left to do without. */
function triesWith(found: typeof both, errors: readonly unknown[]): readonly string[] {
  const chosen = new OptionalPackages("python");
  const tries = [chosen.specsOf(found).join(" ")];
  for (const error of errors) {
    if (!chosen.leaveOut(error, found)) return [...tries, "refused"];
    tries.push(chosen.specsOf(found).join(" "));
  }
  return tries;
}

describe("OptionalPackages", () => {
  it("leaves out what cannot be installed and says so", () => {
    const chosen = new OptionalPackages("python");
    expect(chosen.leaveOut(installFailed(["nope"], "no such package"), both)).toBe(true);
    expect(chosen.specsOf(both)).toEqual(["PyYAML", "numpy"]);
    expect(chosen.notes).toEqual([expect.stringMatching(/^Without nope, .*no such package/)]);
  });

  it.each<[string, typeof both, readonly unknown[], readonly string[]]>([
    ["a needed one", both, [installFailed(["numpy"], "x")], ["PyYAML nope numpy", "refused"]],
    [
      "no name, then a needed one",
      both,
      [installFailed(["numpy", "nope", "PyYAML"], "x"), installFailed(["numpy"], "x")],
      ["PyYAML nope numpy", "numpy", "refused"],
    ],
    [
      "a registry that is not there, and a needed one",
      both,
      [unreachable(["numpy"])],
      ["PyYAML nope numpy", "refused"],
    ],
    ["a registry that is not there, and none needed", none, [unreachable(["nope"])], ["PyYAML nope", ""]],
    [
      "a rule of the operator's",
      both,
      [new GloveboxError("POLICY_DENIED", "no", { context: { field: "packages", package: "pyyaml" } })],
      ["PyYAML nope numpy", "nope numpy"],
    ],
    [
      "a rule against a dependency",
      both,
      [new GloveboxError("POLICY_DENIED", "no", { context: { field: "packages", package: "other" } })],
      ["PyYAML nope numpy", "numpy"],
    ],
    ["something else", none, [new GloveboxError("CANCELLED", "no")], ["PyYAML nope", "refused"]],
    ["another rule", none, [new GloveboxError("POLICY_DENIED", "no", { context: {} })], ["PyYAML nope", "refused"]],
  ])("tries fewer after %s", (_, found, errors, tries) => {
    expect(triesWith(found, errors)).toEqual(tries.map((each) => each.split(" ").toSorted().join(" ")));
  });

  it("gives up one by one only so often", () => {
    const found = { needed: [], optional: ["a", "b", "c", "d", "e"] };
    const errors = ["a", "b", "c"].map((name) => installFailed([name], "x"));
    expect(triesWith(found, errors)).toEqual(["a b c d e", "b c d e", "c d e", ""]);
  });
});

describe("withWayOut", () => {
  it("tells how to run without what the code imports, where that was what could not be installed", () => {
    const failed = installFailed(["numpy"], "no such package", {
      suggestion: "Check it.",
      context: { retryable: true },
    });
    const { message, context } = failed;
    expect(withWayOut(failed, both)).toMatchObject({
      ...{ errorType: "PACKAGE_INSTALL_FAILED", message, context },
      suggestion: "Check it. To run the code without installing what it imports, use packages: [].",
    });
    const cancelled = new GloveboxError("CANCELLED", "cancelled");
    expect(withWayOut(cancelled, both)).toBe(cancelled);
    expect(withWayOut(failed, { needed: [], optional: [] })).toBe(failed);
  });
});
