/**
 * Checks whether the published package starts as quickly as it has to: it is packed and installed in a separate folder, and
 * each figure is compared with what one would do without Glovebox, or without a new process, in the same run.
 *
 * Prints the figures with their targets, then writes them to bench/results/start-up.json. Only trust the verdicts of a quiet machine.
 * Usage: node bench/start-up.ts [ROUNDS (default 15)]; the image by GLOVEBOX_IMAGE_PYTHON.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Library from "../src/index.ts";
import { PackedPackage } from "../test/package/packed-package.ts";
import { codeOf, runFile } from "./parts/baselines.ts";
import { benchImages } from "./parts/images.ts";
import { timeInTurn, type Subject } from "./parts/in-turn.ts";
import { machineFacts, versionFacts } from "./parts/machine.ts";
import { median } from "./parts/statistics.ts";

const rounds = Number(process.argv[2] ?? 15);
const image = benchImages(process.env).python;
/** Other work on this machine makes every figure worse, most of all those that involve many processes. */
const loadBefore = Number(loadavg()[0]?.toFixed(1));
/** Background work must not slow down what is measured next. */
const settleMs = 150;

// The user's own settings are ignored, and nothing is left in their folders.
const home = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]) process.env[name] = join(home, name);
process.env["GLOVEBOX_IMAGE_PYTHON"] = image;

/** A figure must be at most `factor` times another one and `plusMs` more; without another one, at most `plusMs`. */
interface Target {
  readonly of: string;
  readonly than: string | null;
  readonly factor: number;
  readonly plusMs: number;
}

const targets: readonly Target[] = [
  { of: "glovebox --version", than: "node -e 0", factor: 2, plusMs: 0 },
  { of: "glovebox run, local", than: "library, local", factor: 1, plusMs: 150 },
  { of: "glovebox run, docker", than: "docker run --rm", factor: 1.5, plusMs: 0 },
  { of: "library, docker", than: "docker run --rm", factor: 1.15, plusMs: 0 },
  { of: "glovebox mcp, to its first answer", than: null, factor: 0, plusMs: 300 },
];

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

function subjectsOf(command: string, glovebox: Library.Glovebox): readonly Subject[] {
  const run = (...argv: readonly string[]) => runFile(process.execPath, [command, ...argv]);
  const program = { language: "python", code: codeOf.python } as const;
  const inDocker = ["run", "--rm", "--network", "none", image, "python3", "-c", codeOf.python];
  let ended: Promise<unknown> = Promise.resolve();
  const mcp = async (): Promise<void> => {
    const child = spawn(process.execPath, [command, "mcp"], { stdio: ["pipe", "pipe", "inherit"] });
    ended = once(child, "close");
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await once(child.stdout, "data");
    child.stdin.end();
  };
  return [
    { name: "node -e 0", run: () => runFile(process.execPath, ["-e", "0"]) },
    { name: "glovebox --version", run: () => run("--version") },
    { name: "library, local", run: () => glovebox.execute({ ...program, engine: "local" }), settleMs },
    { name: "glovebox run, local", run: () => run("run", "--engine", "local", "-c", codeOf.python) },
    { name: "docker run --rm", run: () => runFile("docker", inDocker), settleMs },
    { name: "library, docker", run: () => glovebox.execute({ ...program, engine: "docker" }), settleMs },
    { name: "glovebox run, docker", run: () => run("run", "--engine", "docker", "-c", codeOf.python), settleMs },
    { name: "glovebox mcp, to its first answer", run: mcp, end: () => ended },
  ];
}

try {
  using installed = new PackedPackage();
  const entry = pathToFileURL(join(installed.folder, "dist/index.js")).href;
  const { createGlovebox } = (await import(entry)) as typeof Library;
  await using glovebox = await createGlovebox();
  const { timesMs, leftOut } = await timeInTurn(
    subjectsOf(join(installed.folder, "dist/cli/main.js"), glovebox),
    rounds,
  );
  const medians = new Map([...timesMs].map(([name, times]) => [name, median(times)]));
  const figures = Object.fromEntries([...medians].map(([name, ms]) => [name, Number(ms.toFixed(1))]));
  const verdicts = targets.flatMap(({ of, than, factor, plusMs }) => {
    const ms = medians.get(of);
    const base = than === null ? 0 : medians.get(than);
    if (ms === undefined || base === undefined) return [];
    const allowedMs = base * factor + plusMs;
    const ratio = than === null ? null : Number((ms / base).toFixed(2));
    return [{ of, than, ratio, ms: Math.round(ms), allowedMs: Math.round(allowedMs), isMet: ms <= allowedMs }];
  });
  console.log(`load average before: ${loadBefore}`);
  console.table(figures);
  console.table(verdicts);
  for (const { name, reason } of leftOut) console.log(`${name}: left out, ${reason}`);
  const report = { rounds, date: new Date().toISOString().slice(0, 10), machine: machineFacts(), loadBefore };
  const facts = { ...report, versions: await versionFacts(), medianMs: figures, targets: verdicts, leftOut };
  writeFileSync(join(import.meta.dirname, "results/start-up.json"), `${JSON.stringify(facts, null, 2)}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
