import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { beforeAll, describe, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { copyPackages } from "../helpers/runner-packages.ts";
import { questionsOf, useRunners } from "../helpers/runner-scene.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { removeImage } from "../helpers/toolchain-image.ts";

describe.each(["docker"] as const)("what a runner must show on %s:", (engine) => {
  const expectAnswer = useRunners(engine);
  const image = `glovebox-test-runners:${createId("runners")}`;
  beforeAll(() => {
    const context = mkdtempSync(path.join(os.tmpdir(), "glovebox-runners-image-"));
    try {
      copyPackages(["jest", "vitest", "vite", "mocha"], context);
      const lines = [
        `FROM ${sessionImages.javascript}`,
        "COPY node_modules /node_modules",
        "ENV PATH=/node_modules/.bin:$PATH",
      ];
      writeFileSync(path.join(context, "Dockerfile"), lines.join("\n"));
      execFileSync("docker", ["build", "--quiet", "--tag", image, context], { stdio: ["ignore", "ignore", "pipe"] });
    } finally {
      rmSync(context, { recursive: true });
    }
    return () => removeImage(image);
  }, 300_000);

  it.each(["node:test", "jest", "vitest", "mocha"].flatMap(questionsOf))("%s", (_, asked) =>
    expectAnswer(asked, { image }),
  );

  it.each(questionsOf("bun"))("%s", (_, asked) => expectAnswer(asked, { image: sessionImages.session }));

  it.each(["pytest", "unittest"].flatMap(questionsOf))("%s", (_, asked) =>
    expectAnswer(asked, { image: sessionImages.python }),
  );
});
