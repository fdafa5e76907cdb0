import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { toolVariables } from "./tool-variables.ts";

/** What npm says on standard error with these variables, without its own state. */
function saidByNpm(variables: Readonly<Record<string, string>>): string {
  const all = { HOME: "/nonexistent", npm_config_logs_max: "0", ...variables };
  const words = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  const { stderr, status } = spawnSync("env", [...words, "npm", "config", "get", "prefix"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stderr;
}

it("npm knows each variable of ours that it reads, and warns about none", (context) => {
  if (!saidByNpm({ npm_config_not_npms_own: "x" }).includes("not-npms-own"))
    return context.skip("this npm does not warn about what it does not know");
  expect(saidByNpm(toolVariables)).toBe("");
});
