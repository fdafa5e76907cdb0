import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectFolder } from "./project-folder.ts";

/** Created by the testbed's part `rootless`. */
const user = "glovebox-testbed";

/** Not part of the project, or too large to be copied. */
const leftOut = new Set(["node_modules", ".git", "dist", "coverage"]);

/** $1 the checkout's node_modules, $2 the copy, $3 the user, $4 its home, then a command. */
const script = `
set -e
mount --bind "$1" "$2/node_modules"
cd "$2"
user=$3 home=$4 copy=$2
shift 4
exec setpriv --reuid "$user" --regid "$user" --clear-groups env -i \\
  "PATH=$copy/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin" "HOME=$home" GLOVEBOX_TEST_REQUIRE=local "$@"
`;

export interface UserCommandResult {
  /** Null if it was ended because its time was up. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandFailure {
  readonly code?: unknown;
  readonly killed?: boolean;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Why no command can be run as an ordinary user here; null when it can. */
export function ordinaryUserFault(): string | null {
  if (process.getuid?.() !== 0) return "only root can become another user; without root the tests themselves are one";
  try {
    execFileSync("id", [user], { stdio: "ignore" });
    return null;
  } catch {
    return `there is no user ${user}, which test/testbed/up.sh makes with its part rootless`;
  }
}

/**
 * A copy of the checkout that an ordinary user may read, even if that user may not enter the checkout itself; its
 * node_modules are mounted, only for commands that are run in the copy.
 */
export class OrdinaryUser implements Disposable {
  /** Belongs to the user. */
  readonly home: string;
  readonly #folder: string;
  readonly #copy: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "glovebox-ordinary-user-"));
    this.#copy = join(this.#folder, "checkout");
    this.home = join(this.#folder, "home");
    for (const folder of [this.home, join(this.#copy, "node_modules")]) mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(projectFolder).filter((entry) => !leftOut.has(entry))) {
      cpSync(join(projectFolder, name), join(this.#copy, name), { recursive: true });
    }
    execFileSync("chmod", ["-R", "a+rX", this.#folder]);
    execFileSync("chown", [user, this.home]);
  }

  /** Runs a command in the copy as the user; the checkout's tools are on its PATH. */
  async run(command: readonly string[], timeoutMs: number): Promise<UserCommandResult> {
    const modules = realpathSync(join(projectFolder, "node_modules"));
    const values = [modules, this.#copy, user, this.home, ...command];
    const args = ["--mount", "--propagation", "private", "sh", "-c", script, "sh", ...values];
    try {
      const done = await promisify(execFile)("unshare", args, { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 });
      return { exitCode: 0, ...done };
    } catch (error) {
      const { code, killed, stdout = "", stderr = "" } = error as CommandFailure;
      if (typeof code !== "number" && killed !== true) throw error;
      return { exitCode: typeof code === "number" ? code : null, stdout, stderr };
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
