// Runs programs through the command line, on the embedded engine: results, a refusal, a kill, and what to try next.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const command = `${root}bin/glovebox`;

/** Runs a program with its output on this terminal; resolves to the exit code. */
async function run(
  file: string,
  options: readonly string[] = [],
  args: readonly string[] = [],
): Promise<number | null> {
  const argv = ["run", "--engine", "local", ...options, `scripts/demo/${file}`, ...args];
  console.log(`$ ./bin/glovebox ${argv.join(" ")}`);
  const child = spawn(command, argv, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = (await once(child, "close")) as [number | null];
  console.log(`(exit code ${code})\n`);
  return code;
}

function show(file: string): void {
  const text = readFileSync(`${root}scripts/demo/${file}`, "utf8").trimEnd();
  console.log(`${file}\n${text.replaceAll(/^(?=.)/gm, "    ")}\n`);
}

/** A sandbox whose program waits for a line, once it does. */
async function startNeighbour(): Promise<ChildProcess> {
  const argv = ["run", "--engine", "local", "scripts/demo/neighbour.py"];
  const child = spawn(command, argv, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  child.stdout?.setEncoding("utf8");
  await Promise.race([once(child.stdout ?? child, "data"), once(child, "close")]);
  return child;
}

/** Processes of this machine with these arguments; null where that cannot be seen. */
function countProcesses(args: readonly string[]): number | null {
  if (process.platform !== "linux") return null;
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => argumentsOf(id) === `${args.join("\0")}\0`).length;
}

function argumentsOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** @returns whether all went as it should */
async function showKill(): Promise<boolean> {
  show("forever.py");
  const neighbour = await startNeighbour();
  // A number that no other process has.
  const seconds = String(80_000 + (process.pid % 10_000));
  const code = await run("forever.py", ["--timeout", "2s"], [seconds]);
  const left = countProcesses(["sleep", seconds]);
  if (left !== null) console.log(`Of its helpers, the daemon included, ${left} are left on this machine.`);
  const said = once(neighbour.stdout ?? neighbour, "data").then(([text]) => String(text).trim());
  const ended = once(neighbour, "close");
  neighbour.stdin?.end("go\n");
  const answer = await Promise.race([said, ended.then(() => "gone")]);
  await ended;
  console.log(`A program in another sandbox, which ran all the time, is asked: ${answer}\n`);
  return code === 124 && (left ?? 0) === 0 && answer === "still here";
}

console.log("1. Results\n");
show("heights.py");
const results = [(await run("heights.py")) === 0];
show("shapes.ts");
results.push((await run("shapes.ts")) === 0);

console.log("2. A refusal, and what would allow it\n");
show("leak.py");
results.push((await run("leak.py", ["--network", "example.com"])) === 1);

console.log("3. A kill: exactly what ran out of time\n");
results.push(await showKill());

console.log(`Next:
  ./bin/glovebox run -c 'print(6 * 7)'      a program of your own: a file, -c, or standard input
  ./bin/glovebox test PROJECT               a project's tests, counted
  ./bin/glovebox shell                      look around inside
  ./bin/glovebox mcp install claude-code    give it to your agent (or cursor, codex, vscode, ...)
  ./bin/glovebox doctor                     the engines of this machine, and what each enforces
README.md says how to install it, docs/cli.md has every command.`);
if (results.includes(false)) process.exitCode = 1;
