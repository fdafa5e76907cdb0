import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { testImages } from "../helpers/test-images.ts";

/** Where this machine has Go; null: nowhere. */
function goRoot(): string | null {
  try {
    return execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
  } catch {
    return null;
  }
}

/** Makes an image with this machine's own Go of one that the tests have. */
function buildImage(root: string, name: string): void {
  const dockerfile = `FROM ${testImages.python}\nCOPY go /usr/local/go\nENV PATH=/usr/local/go/bin:$PATH GOTOOLCHAIN=local\n`;
  const context = 'printf %s "$1" >"$2/Dockerfile" && tar -C "$2" -c Dockerfile -C "${3%/*}" "${3##*/}"';
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-go-"));
  const line = `${context} --transform "s#^\${3##*/}#go#" | docker build --quiet --tag "$4" -`;
  try {
    execFileSync("sh", ["-c", line, "sh", dockerfile, folder, root, name], { stdio: ["ignore", "ignore", "pipe"] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each(["docker"] as const)("a project in Go on %s", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-go-project-")));
  const project = path.join(folder, "go");
  const image = `glovebox-test-go:${createId("go")}`;
  const root = goRoot();
  const glovebox = useGlovebox(engine, { workingDirectory: folder });
  beforeAll(() => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects/go"), project, { recursive: true });
    if (root !== null) buildImage(root, image);
    return () => {
      if (root !== null) execFileSync("docker", ["rmi", "--force", image], { stdio: "ignore" });
    };
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is tested inside, and counted as Go counts", { timeout: 300_000 }, async (context) => {
    if (root === null) return context.skip("this machine has no Go");
    const response = await glovebox().test({ project_path: project, test_command: "go test ./...", image });
    expect(response, response.output).toMatchObject({
      ...{ verdict: "failed", counted: true, counted_from: "report", runners: ["go"], exit_code: 1 },
      ...{ passed: 4, failed: 1, skipped: 1, errors: 1 },
    });
    expect(response.failures).toContainEqual(
      expect.objectContaining({ name: "example.com/shop > TestFails", file: "kinds_test.go", line: 8 }),
    );
  });
});
