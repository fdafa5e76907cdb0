import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { questionsOf, useRunners } from "../helpers/runner-scene.ts";
import { buildToolchainImage, printed, removeImage } from "../helpers/toolchain-image.ts";

describe.each(["docker"] as const)("a project in Go on %s", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-go-project-")));
  const project = path.join(folder, "go");
  const image = `glovebox-test-go:${createId("go")}`;
  const root = printed("go", ["env", "GOROOT"]);
  const glovebox = useGlovebox(engine, { workingDirectory: folder });
  const expectAnswer = useRunners(engine);
  beforeAll(() => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects/go"), project, { recursive: true });
    if (root === null) return;
    buildToolchainImage(image, { paths: [root], environment: `PATH=${root}/bin:$PATH GOTOOLCHAIN=local` });
    return () => removeImage(image);
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

  it.for(questionsOf("go"))("%s", { timeout: 300_000 }, async ([, asked], context) => {
    if (root === null) return context.skip("this machine has no Go");
    await expectAnswer(asked, { image });
  });
});
