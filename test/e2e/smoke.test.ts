import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { isRequired } from "../helpers/require.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const timeout = 120_000;

async function smoke(...engines: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  try {
    const words = ["scripts/smoke.ts", ...engines];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: projectFolder });
    return { code: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code, stdout };
  }
}

it("the smoke test of other systems passes here, step by step", { timeout }, async (context) => {
  const probe = await runCommand(["run", "--engine", "local", "-c", "pass"]);
  if (probe.exitCode !== 0 && !isRequired("local")) context.skip(`no local engine: ${probe.stderr}`);
  const { code, stdout } = await smoke("local");
  expect(stdout).toMatch(/^linux .*\n\nlocal: .*, isolation \w+\n/);
  expect(stdout.match(/^ok {4} {2}/gm)?.length, stdout).toBeGreaterThan(7);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/nothing is left .*\n\nEverything works\.\n$/)]);
});

it("it fails for an engine that is not there", { timeout }, async () => {
  expect(await smoke("nosuch")).toEqual({
    code: 1,
    stdout: expect.stringContaining("nosuch: there is no such engine.\n\n1 failed."),
  });
});
