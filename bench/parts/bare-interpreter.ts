import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bareCommand, hostInterpreters, insideInterpreters, type BenchLanguage } from "./baselines.ts";
import type { Subject } from "./in-turn.ts";

/** For each line it receives, runs its arguments as a command and prints how many milliseconds that took. */
const pythonTimer = `
import subprocess, sys, time
for _ in iter(sys.stdin.readline, ""):
    begun = time.perf_counter()
    done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True)
    took = (time.perf_counter() - begun) * 1000
    print(took if done.returncode == 0 and done.stdout == b"42\\n" else done.stderr.decode(), flush=True)
`;
const nodeTimer = `
const { spawnSync } = require("node:child_process");
const [file, ...argv] = process.argv.slice(1);
require("node:readline").createInterface({ input: process.stdin }).on("line", () => {
  const begun = performance.now();
  const done = spawnSync(file, argv, { stdio: ["ignore", "pipe", "pipe"] });
  const took = performance.now() - begun;
  console.log(done.status === 0 && String(done.stdout) === "42\\n" ? took : String(done.stderr || done.error));
});
`;

/** Where a bare interpreter runs: in a container of that image without a network, or on this machine. */
export type BarePlace = { readonly engine: string; readonly image: string } | "this machine";

/**
 * The bare interpreter with the program of that language, from its start to its end. It is started, and timed, by a small
 * program in the same place, so that neither an engine nor its command counts.
 */
export async function bareInterpreter(
  name: string,
  language: BenchLanguage,
  place: BarePlace,
  stack: AsyncDisposableStack,
): Promise<Subject> {
  const interpreters = place === "this machine" ? await hostInterpreters() : insideInterpreters;
  const timer =
    language === "python" ? [interpreters.python, "-c", pythonTimer] : [interpreters.node, "-e", nodeTimer, "--"];
  const command = [...timer, ...bareCommand(language, interpreters)];
  const [file = "", ...argv] =
    place === "this machine"
      ? command
      : [place.engine, "run", "--rm", "--interactive", "--network", "none", place.image, ...command];
  const child = spawn(file, argv, { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  stack.defer(async () => {
    child.stdin.end();
    await closed;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    run: async () => {
      child.stdin.write("\n");
      const { value } = await lines.next();
      const tookMs = Number(value);
      if (!Number.isFinite(tookMs)) throw new Error(`${name}: ${value ?? "has ended"}`);
      return { tookMs };
    },
  };
}
