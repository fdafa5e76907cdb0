import { describe, expect, it } from "vitest";
import type { Ecosystem } from "../policy/install-policy.ts";
import { cannotReachRegistry, explainInstallFailure, findsNoVersion, type InstallFailure } from "./install.ts";
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

  it.each([
    ["26", "Collecting a_b @ http://h.example/a_b-1.tar.gz (from wants-it==1.0)\n", "a_b (from wants-it)", "wants-it"],
    ["23", "Collecting a_b@ git+http://h.example/a_b.git (from wants-it)\n", "a_b (from wants-it)", "wants-it"],
    ["20", "Collecting a_b@ http://h.example/a_b-1.tar.gz\n", "a_b", "x"],
    ["any", "Processing ./a_b (from wants-it)\n", "a package (from wants-it)", "wants-it"],
    ["one that is cut off", "", "a package", "x"],
  ])("names what pip %s would have had to build", (_, line, named, wanted) => {
    const failed = "ERROR: Could not install packages due to an OSError: glovebox: only wheels are installed, and this";
    const failure = explain(
      "pip",
      wanted === "x" ? ["x"] : ["x", wanted],
      `${failed}\n\nCollecting x\n${line}  more\n`,
    );
    expect(failure).toEqual({
      packages: [wanted],
      reason: `${line === "" ? "x" : named} is named by an address and is not a wheel; only wheels are installed`,
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

describe("cannotReachRegistry", () => {
  it.each([
    "error: ConnectionRefused downloading package manifest lodash",
    "error: DNSResolveFailed downloading package manifest lodash",
    "error: GET http://registry.example/lodash - 502",
    "npm error code ENOTFOUND\nnpm error network request to http://registry.example/lodash failed",
    "npm error code E503",
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)': /simple/six/\nERROR: No matching distribution found for six",
    "2026-01-01T00:00:00,1   Could not fetch URL http://index.example/simple/six/: connection error: (...): 5 - skipping",
    "ERROR: HTTP error 504 Server Error: Gateway Timeout for url: http://index.example/simple/six/",
  ])("says so of %s", (output) => {
    expect(cannotReachRegistry(output)).toBe(true);
  });

  it.each([
    "error: GET http://registry.example/no-such - 404",
    "npm error code E404\nnpm error 404 Not Found",
    "Could not fetch URL http://index.example/simple/no-such/: 404 Client Error: Not Found\nERROR: No matching distribution found for no_such",
    "error: 502 is not a package - really",
  ])("and not of %s", (output) => {
    expect(cannotReachRegistry(output)).toBe(false);
  });
});

describe("findsNoVersion", () => {
  it.each([
    [
      'error: No version matching "latest" found for specifier "a" (blocked by minimum-release-age: 86400 seconds)',
      true,
    ],
    ["npm error notarget No matching version found for a@* with a date before 1/1/2026.", true],
    ["ERROR: No matching distribution found for a", true],
    ["ERROR: No space left on device", false],
  ])("%s: %s", (output, expected) => {
    expect(findsNoVersion(output)).toBe(expected);
  });
});
