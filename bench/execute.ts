/**
 * How long one execution takes from request to response, removal included, beside what one would do without Glovebox.
 *
 * All are run in turn, so that the machine's mood hits them alike; read the ratios, not the milliseconds.
 * Usage: node bench/execute.ts [ROUNDS]; images by GLOVEBOX_IMAGE_PYTHON.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createGlovebox } from "../src/index.ts";

const run = promisify(execFile);
const rounds = Number(process.argv[2] ?? 15);
const code = "print(42)";
const image = process.env["GLOVEBOX_IMAGE_PYTHON"] ?? "python:3.12-slim";

// The interpreter itself: a version manager's shim in its place would take most of the time.
const python = (await run("python3", ["-c", "import sys; print(sys.executable)"])).stdout.trim();

await using glovebox = await createGlovebox();

const subjects: Record<string, () => Promise<unknown>> = {
  "bare python3": () => run(python, ["-c", code]),
  "docker run --rm": () => run("docker", ["run", "--rm", "--network", "none", image, "python3", "-c", code]),
  "glovebox, docker": () => glovebox.execute({ language: "python", code, engine: "docker" }),
  "glovebox, podman": () => glovebox.execute({ language: "python", code, engine: "podman" }),
  "glovebox, local": () => glovebox.execute({ language: "python", code, engine: "local" }),
};

const timesMs = new Map<string, number[]>();
for (const [name, subject] of Object.entries(subjects)) {
  try {
    await subject();
    timesMs.set(name, []);
  } catch (error) {
    console.log(`${name}: left out, ${error instanceof Error ? error.message.split("\n")[0] : "it failed"}`);
  }
}
for (let round = 0; round < rounds; round += 1) {
  for (const [name, times] of timesMs) {
    const startedMs = performance.now();
    await subjects[name]?.();
    times.push(performance.now() - startedMs);
  }
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
const [baseline] = timesMs.values();
const docker = timesMs.get("docker run --rm");
console.log(`${"".padEnd(18)}  median ms     min ms  x bare python  x docker run`);
for (const [name, times] of timesMs) {
  const cells = [
    median(times).toFixed(0).padStart(9),
    Math.min(...times)
      .toFixed(0)
      .padStart(9),
    (median(times) / median(baseline ?? [])).toFixed(2).padStart(13),
    (docker === undefined ? "" : (median(times) / median(docker)).toFixed(2)).padStart(12),
  ];
  console.log(`${name.padEnd(18)}  ${cells.join("  ")}`);
}
