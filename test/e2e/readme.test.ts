import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { record } from "../../scripts/recording/record.ts";
import { renderRecording } from "../../scripts/recording/render.ts";
import { isRequired } from "../helpers/require.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const readme = readFileSync(path.join(projectFolder, "README.md"), "utf8");
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? "";

beforeEach(async (context) => {
  const probe = await runCommand(["run", "--engine", "local", "-c", "pass"]);
  if (probe.exitCode !== 0 && !isRequired("local")) context.skip(`no local engine: ${probe.stderr}`);
});

it("the first command prints what stands below it", () => {
  const [line = "", ...printed] = block("console").split("\n");
  expect(line).toMatch(/^\$ glovebox run --engine local /);
  const command = line.replace("$ glovebox", path.join(projectFolder, "bin/glovebox"));
  expect(execFileSync("sh", ["-c", command], { encoding: "utf8" })).toBe(printed.join("\n"));
});

it("the picture shows what its commands print today: node scripts/write-recording.ts", () => {
  const picture = readFileSync(path.join(projectFolder, "docs/first-run.svg"), "utf8");
  expect(picture).toBe(renderRecording(record()));
});

it("the library's example runs as it stands", () => {
  const example = block("ts");
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
