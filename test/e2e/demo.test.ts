import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { projectFolder } from "../helpers/project-folder.ts";

it("the demo shows results, a refusal with what allows it, a kill of exactly one sandbox, and a next step", async () => {
  const { error, stdout, stderr } = await new Promise<Record<"error" | "stdout" | "stderr", unknown>>((resolve) => {
    const argv = ["scripts/demo.ts"];
    execFile(process.execPath, argv, { cwd: projectFolder }, (...[cause, out, err]) =>
      resolve({ error: cause, stdout: out, stderr: err }),
    );
  });
  expect(error, `${String(stdout)}${String(stderr)}`).toBeNull();
  expect(stdout).toMatch(/mean 1\.71 m.*\(exit code 0\).*square 9\.00\n\(exit code 0\)/s);
  expect(stderr).toContain('The program chose this host: if you trust it, add "collector.example.net" to --network');
  expect(stdout).toMatch(/two helpers started\n\(exit code 124\).*0 are left on this machine.*is asked: still here/s);
  expect(stderr).toContain("TIMEOUT: The program was ended after 2 s.");
  expect(stdout).toMatch(/\nNext:\n {2}\.\/bin\/glovebox run/);
});
