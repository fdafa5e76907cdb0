import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { isRequired } from "../helpers/require.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const readme = readFileSync(path.join(projectFolder, "README.md"), "utf8");

it("the library's example runs as it stands", async (context) => {
  const probe = await runCommand(["run", "--engine", "local", "-c", "pass"]);
  if (probe.exitCode !== 0 && !isRequired("local")) context.skip(`no local engine: ${probe.stderr}`);
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(example).toContain('from "glovebox"');
  const library = pathToFileURL(path.join(projectFolder, "src/index.ts")).href;
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  try {
    const file = path.join(folder, "example.ts");
    writeFileSync(file, example.replace('"glovebox"', JSON.stringify(library)));
    const environment = {
      ...process.env,
      DOCKER_HOST: "unix:///nonexistent/docker.sock",
      CONTAINER_HOST: "unix:///nonexistent/podman.sock",
    };
    const output = execFileSync(process.execPath, [file], { env: environment, encoding: "utf8" });
    expect(output).toMatch(/^completed 0 42\n namespaces\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
