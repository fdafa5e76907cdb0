/**
 * How long a project's tests take from request to verdict, removal included, beside the same command by hand in a container.
 *
 * Both are run in turn, so that the machine's mood hits them alike; read the ratio, not the milliseconds.
 * Usage: node bench/tests.ts [ROUNDS]; image by GLOVEBOX_IMAGE_JAVASCRIPT.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createGlovebox } from "../src/index.ts";

const run = promisify(execFile);
const rounds = Number(process.argv[2] ?? 10);
const image = process.env["GLOVEBOX_IMAGE_JAVASCRIPT"] ?? "node:24-slim";
const project = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
writeFileSync(join(project, "a.test.js"), 'require("node:test").test("passes", () => undefined);');
const mount = ["--volume", `${project}:/project:ro`, "--workdir", "/project"];

await using glovebox = await createGlovebox();
const subjects = {
  "docker run --rm": () => run("docker", ["run", "--rm", "--network", "none", ...mount, image, "node", "--test"]),
  "glovebox, docker": () =>
    glovebox.tests.run({ projectPath: project, testCommand: "node --test", image, engine: "docker" }),
};
const timesMs = { "docker run --rm": [] as number[], "glovebox, docker": [] as number[] };
try {
  for (let round = -1; round < rounds; round += 1) {
    for (const name of ["docker run --rm", "glovebox, docker"] as const) {
      const startedMs = performance.now();
      await subjects[name]();
      // The first round warms up.
      if (round >= 0) timesMs[name].push(performance.now() - startedMs);
    }
  }
} finally {
  rmSync(project, { recursive: true });
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
const byHand = median(timesMs["docker run --rm"]);
for (const [name, times] of Object.entries(timesMs)) {
  console.log(
    `${name.padEnd(18)}  ${median(times).toFixed(0).padStart(6)} ms  ${(median(times) / byHand).toFixed(2)} x`,
  );
}
