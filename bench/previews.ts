/**
 * How long it takes from the request for a preview to the first byte of its page, beside the same server started by hand in
 * a container of the same image on the same project. Ending it is not counted.
 *
 * Both are started in turn, so that the machine's mood hits them alike; read the ratio, not the milliseconds.
 * Usage: node bench/previews.ts [ROUNDS]; image by GLOVEBOX_IMAGE_JAVASCRIPT.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createGlovebox } from "../src/index.ts";

const run = promisify(execFile);
const rounds = Number(process.argv[2] ?? 10);
const image = process.env["GLOVEBOX_IMAGE_JAVASCRIPT"] ?? "node:24-slim";
const project = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
const code = 'require("node:http").createServer((q, s) => s.end("page")).listen(3000);';
writeFileSync(join(project, "server.js"), code);
const mount = ["--volume", `${project}:/project:ro`, "--workdir", "/project"];

/** Resolves when the page has answered. */
async function untilAnswer(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null && answer.ok) return void (await answer.arrayBuffer());
    await answer?.arrayBuffer();
    await sleep(5);
  }
}

await using glovebox = await createGlovebox({ workingDirectory: project });

/** Each resolves to what ends it. */
const subjects = {
  "docker run": async () => {
    const { stdout: id } = await run("docker", [
      ...["run", "--detach", "--publish", "127.0.0.1::3000", ...mount, image, "node", "server.js"],
    ]);
    const { stdout: address } = await run("docker", ["port", id.trim(), "3000"]);
    await untilAnswer(`http://${address.trim().split("\n")[0]}/`);
    return () => run("docker", ["rm", "--force", id.trim()]);
  },
  "glovebox, docker": async () => {
    const preview = await glovebox.previews.start({
      ...{ projectPath: project, command: "node server.js", image, engine: "docker", waitSeconds: 60 },
    });
    await untilAnswer(preview.details?.directUrl ?? "");
    return () => preview.close();
  },
};
const timesMs = { "docker run": [] as number[], "glovebox, docker": [] as number[] };
try {
  for (let round = -1; round < rounds; round += 1) {
    for (const name of ["docker run", "glovebox, docker"] as const) {
      const startedMs = performance.now();
      const end = await subjects[name]();
      // The first round warms up.
      if (round >= 0) timesMs[name].push(performance.now() - startedMs);
      await end();
    }
  }
} finally {
  rmSync(project, { recursive: true });
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
const byHand = median(timesMs["docker run"]);
for (const [name, times] of Object.entries(timesMs)) {
  console.log(
    `${name.padEnd(18)}  ${median(times).toFixed(0).padStart(6)} ms  ${(median(times) / byHand).toFixed(2)} x`,
  );
}
