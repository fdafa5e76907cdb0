import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hashOfFile } from "../scripts/supervisor-builds.ts";
import { supervisorHashes } from "../src/engines/supervised/supervisor-builds.ts";
import { projectFolder } from "./helpers/project-folder.ts";

/** Exit code of the script where pip, or what it would install, is not there. */
const noCompiler = 69;

// A minute where the machine has nothing else to do.
it(
  "the supervisor's binaries are the same bytes when they are built from their sources elsewhere",
  { timeout: 1_260_000 },
  (context) => {
    if (process.platform !== "linux") context.skip("the script is for Linux");
    const copy = mkdtempSync(join(tmpdir(), "glovebox-supervisor-"));
    try {
      cpSync(join(projectFolder, "supervisor"), join(copy, "sources"), { recursive: true });
      const { status, stdout, stderr } = spawnSync("sh", [join(copy, "sources/build.sh"), join(copy, "made")], {
        encoding: "utf8",
        timeout: 1_200_000,
        // A compiler that is there may be used again, what it made before may not.
        env: {
          ...process.env,
          SUPERVISOR_CACHE: join(projectFolder, "node_modules/.cache/supervisor"),
          ZIG_GLOBAL_CACHE_DIR: join(copy, "cache"),
          ZIG_LOCAL_CACHE_DIR: join(copy, "cache"),
        },
      });
      if (status === noCompiler) context.skip(`the compiler cannot be installed: ${stderr.trim().slice(-300)}`);
      expect([status, stderr], stdout).toEqual([0, expect.any(String)]);
      const made = Object.keys(supervisorHashes).map((name) => [
        name,
        hashOfFile(join(copy, `made/supervisor-${name}`)),
      ]);
      expect(Object.fromEntries(made)).toEqual(supervisorHashes);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  },
);
