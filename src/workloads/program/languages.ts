import { runnerOption } from "../../engines/runner-option.ts";
import { workFolder } from "./runner-job.ts";

/** What runs a program inside a sandbox: images have `python` or `node`, the local engine `python` and `bun` or `node`. */
export type Toolchain = "python" | "node" | "bun";

/** Facts about one toolchain. */
interface ToolchainRow {
  /** The interpreter's name on the PATH of the sandbox. */
  readonly interpreter: string;
  /** File in `images/runners` that receives the job. */
  readonly runnerFile: string;
  /** Variables of every run, which the request's own override. */
  readonly environment: Readonly<Record<string, string>>;
}

export const toolchains: Readonly<Record<Toolchain, ToolchainRow>> = {
  python: {
    interpreter: "python3",
    runnerFile: "python-runner.py",
    // Output arrives as it is printed; bytecode would be written for nothing and lie among the program's files.
    environment: { PYTHONUNBUFFERED: "1", PYTHONDONTWRITEBYTECODE: "1" },
  },
  node: { interpreter: "node", runnerFile: "node-runner.cjs", environment: {} },
  bun: { interpreter: "bun", runnerFile: "bun-runner.mjs", environment: {} },
};

/** Whether the file must be compiled on the host, because the toolchain does not run TypeScript in full by itself. */
export function needsCompiling(toolchain: Toolchain, path: string): boolean {
  return toolchain === "node" && /\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
}

/** What `runnerCommand` starts. */
export interface RunnerStart {
  readonly toolchain: Toolchain;
  /**
   * Name of the main file in the working folder; Node and Bun distinguish modules from CommonJS by its extension and
   * its code.
   */
  readonly mainFile: string;
  /** Text of the toolchain's runner, from `readRunner`. */
  readonly source: string;
  /** Path of the interpreter inside the sandbox; default: the toolchain's name, found on the PATH. */
  readonly interpreter?: string | undefined;
  /** Default `/work`. */
  readonly folder?: string | undefined;
  /** A folder of the runner's own, made by it and not there before; nothing is left of it, save under Node. Default `/tmp/.glovebox`. */
  readonly runnerFolder?: string | undefined;
  /** Whether a guard runs the runner, because there is no shell to place it; only for Python and Node. Default false. */
  readonly withoutShell?: boolean | undefined;
}

/** Saves the runner ($3) as the file $2 of the folder $1, which must be new: what lies in one is a former program's. */
const saveRunner = 'mkdir "$1" && printf %s "$3" >"$1/$2"';
/** Removes the variables that shells add by themselves. */
const become = 'shift 3; unset PWD OLDPWD SHLVL; exec "$@"';
/** Node looks for package.json in the folder where it starts, and remembers that there was none. */
const startNode = `${saveRunner} && cd "$1" || exit 125; ${become}`;
const startPython = `${saveRunner} || exit 125; export PYTHONPATH="$1\${PYTHONPATH:+:$PYTHONPATH}"; ${become}`;

/** Argument vector that starts a runner, which then waits on standard input for the pieces of `encodeJob`. */
export function runnerCommand(start: RunnerStart): readonly string[] {
  const { toolchain, source } = start;
  const interpreter = start.interpreter ?? toolchains[toolchain].interpreter;
  const main = `${start.folder ?? workFolder}/${start.mainFile}`;
  const runnerFolder = start.runnerFolder ?? "/tmp/.glovebox";
  if (start.withoutShell) return [interpreter, `${runnerOption}${source}`, main];
  switch (toolchain) {
    case "python":
      return ["sh", "-c", startPython, "sh", runnerFolder, "sitecustomize.py", source, interpreter, main];
    case "node": {
      const file = "runner.cjs";
      const required = `${runnerFolder}/${file}`;
      return ["sh", "-c", startNode, "sh", runnerFolder, file, source, interpreter, "--require", required, main];
    }
    case "bun":
      return [interpreter, "-e", source];
  }
}
