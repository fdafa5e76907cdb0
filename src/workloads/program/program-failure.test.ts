import { describe, expect, it } from "vitest";
import { missingModule } from "./program-failure.ts";

describe("missingModule", () => {
  it.each([
    ["python", "Traceback\n  File\nModuleNotFoundError: No module named 'yaml'\n", "PyYAML"],
    ["python", "ModuleNotFoundError: No module named 'google.cloud.storage'", "google-cloud-storage"],
    [
      "node",
      "node:internal\n\nError: Cannot find module 'lodash/get'\nRequire stack:\n- /app/main.js\n    at x\n",
      "lodash",
    ],
    ["node", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /app/main.mjs\n    at y", "@a/b"],
    ["bun", "error: Cannot find package 'zod' from '/code/main.ts'\n\nBun v1.4.5 (Linux x64)", "zod"],
    ["bun", "error: Cannot find package 'npm:ms@2.1.2' from '/code/main.ts'", "ms@2.1.2"],
  ] as const)("names the package that %s misses", (toolchain, stderr, name) => {
    const error = missingModule(toolchain, stderr);
    expect(error).toMatchObject({ errorType: "NOT_FOUND", context: { package: name } });
    expect(error?.message).toContain(name);
    expect(error?.suggestion).toContain('packages: "auto"');
  });

  it.each([
    ["python", "ValueError: No module named 'yaml'"],
    ["python", "ModuleNotFoundError: No module named 'json.nothing'; 'json' is not a package"],
    ["node", "Error: Cannot find module './own.js'"],
    ["node", "ModuleNotFoundError: No module named 'yaml'"],
    ["bun", 'error: Cannot find module "/work/own.ts"'],
    ["bun", "caught: error: Cannot find package 'zod'"],
  ] as const)("says nothing of other ends: %s %s", (toolchain, stderr) => {
    expect(missingModule(toolchain, stderr)).toBeNull();
  });
});
