import { spawn, type ChildProcess } from "node:child_process";
import { gloveboxCommand } from "./glovebox-command.ts";
import { projectFolder } from "./project-folder.ts";
import { testImages } from "./test-images.ts";

/** How a command ended. */
export interface CommandResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  /** A command that runs the command after it, such as `unshare --user sh -c 'exec "$@"'`; `sh` is put between the two. */
  readonly through?: readonly string[];
  /** A Node and the file that it runs; default: those of the checkout. */
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Written to its standard input, which is then closed; default: nothing. */
  readonly stdin?: string;
  /** Called with the process once it has written something. */
  readonly onOutput?: (child: ChildProcess, stdoutSoFar: string) => void;
}

/** Runs the checkout's `glovebox` as a user would. */
export function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { through = [], command = [gloveboxCommand] } = options;
  const [file = "", ...rest] = through.length === 0 ? command : [...through, "sh", ...command];
  const child = spawn(file, [...rest, ...argv], {
    cwd: options.cwd ?? projectFolder,
    env: {
      ...process.env,
      GLOVEBOX_IMAGE_PYTHON: testImages.python,
      GLOVEBOX_IMAGE_JAVASCRIPT: testImages.javascript,
      GLOVEBOX_IMAGE_TYPESCRIPT: testImages.typescript,
      ...options.environment,
    },
    stdio: "pipe",
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      options.onOutput?.(child, output.stdout);
    });
  }
  child.stdin.on("error", () => {
    // The command may end without reading its input.
  });
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) => resolve({ exitCode, signal, ...output }));
  });
}
