import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildsModule } from "../../scripts/supervisor-builds.ts";
import { projectFolder } from "../helpers/project-folder.ts";

it("what is said of the committed binaries is true of them, and of the sources as they are now", () => {
  const said = readFileSync(join(projectFolder, "src/engines/supervised/supervisor-builds.ts"), "utf8");
  expect(said, "stale: run node scripts/write-supervisor.ts").toBe(buildsModule());
});
