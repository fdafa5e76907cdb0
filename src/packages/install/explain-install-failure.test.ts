import { describe, expect, it } from "vitest";
import type { Ecosystem } from "../../policy/package-specs.ts";
import { explainInstallFailure, type InstallFailure } from "./explain-install-failure.ts";
import type { PackageManager } from "./package-manager.ts";

function explain(manager: PackageManager, specs: readonly string[], output: string): InstallFailure {
  const ecosystem: Ecosystem = manager === "pip" ? "python" : "npm";
  return explainInstallFailure({ manager, ecosystem, specs, output, exitCode: 1 });
}

describe("explainInstallFailure", () => {
  it("reads bun", () => {
    const missing = "bun add v1.4.5\nResolving dependencies\nerror: GET https://registry.example/@a%2fno-such - 404\n";
    expect(explain("bun", ["@a/no-such", "lodash"], missing)).toEqual({
      packages: ["@a/no-such"],
      reason: "GET /@a%2fno-such - 404",
    });
    const version =
      'error: No version matching "99.9.9" found for specifier "lodash" (but package exists)\nerror: lodash@99.9.9 failed to resolve\n';
    expect(explain("bun", ["lodash@99.9.9", "zod"], version)).toEqual({
      packages: ["lodash@99.9.9"],
      reason:
        'No version matching "99.9.9" found for specifier "lodash" (but package exists); lodash@99.9.9 failed to resolve',
    });
  });

  it("reads npm", () => {
    const output = [
      "npm error code E404",
      "npm error 404 Not Found - GET https://registry.example/no-such - Not found",
      "npm error 404",
      "npm error 404  The requested resource 'no-such@*' could not be found or you do not have permission to access it.",
      "npm error 404 Note that you can also install from a",
      "npm error 404 tarball, folder, http url, or git folder.",
      "npm error A complete log of this run can be found in: /work/home/cache/_logs/x.log",
    ].join("\n");
    expect(explain("npm", ["no-such", "such"], output)).toEqual({
      packages: ["no-such"],
      reason:
        "Not Found - GET /no-such - Not found; The requested resource 'no-such@*' could not be found or you do not have permission to access it",
    });
    expect(
      explain(
        "npm",
        ["lodash@99.9.9"],
        "npm error code ETARGET\nnpm error notarget No matching version found for lodash@99.9.9.",
      ),
    ).toEqual({ packages: ["lodash@99.9.9"], reason: "No matching version found for lodash@99.9.9" });
  });

  it("reads pip", () => {
    const output = [
      "ERROR: Could not find a version that satisfies the requirement no_such (from versions: none)",
      "ERROR: No matching distribution found for no_such",
    ].join("\n");
    expect(explain("pip", ["requests", "no-such"], output)).toMatchObject({
      packages: ["no-such"],
      reason: expect.stringContaining("No matching distribution"),
    });
  });

  it("passes on no character that steers a terminal", () => {
    const { reason } = explain("pip", ["a"], "ERROR: no \u001b]0;title\u0007a\u202e\u009b2J\u0000\n");
    expect(reason).toBe("no ]0;titlea2J");
  });

  it("names all when the tool says nothing", () => {
    expect(explain("bun", ["a", "b"], "")).toEqual({ packages: ["a", "b"], reason: "bun ended with exit code 1" });
  });
});
