import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

const password = "pg-secret-of-the-test";

/** Why PostgreSQL cannot be started here; null when it can. */
export function postgresProblem(): string | null {
  return programs() === null ? "Debian's package postgresql is not installed" : null;
}

/** A real PostgreSQL in a new folder, run as an ordinary user, that can go away and come back. */
export class PostgresServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-pg-"));
    const server = new PostgresServer(folder, await freePort());
    if (root()) chownSync(folder, nobody, nobody);
    chmodSync(folder, 0o700);
    const passwordFile = path.join(folder, "password");
    writeFileSync(passwordFile, password);
    if (root()) chownSync(passwordFile, nobody, nobody);
    const data = path.join(folder, "data");
    const initial = [
      "-D",
      data,
      "-U",
      "glovebox",
      "-A",
      "scram-sha-256",
      `--pwfile=${passwordFile}`,
      "-E",
      "UTF8",
      "--no-sync",
    ];
    execFileSync(path.join(programs() ?? "", "initdb"), initial, { ...user(), cwd: folder, stdio: "pipe" });
    await server.up();
    return server;
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  get url(): string {
    return `postgres://glovebox:${password}@127.0.0.1:${this.#port}/postgres`;
  }

  async up(): Promise<void> {
    const settings = [
      `port=${this.#port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${this.#folder}`,
      "fsync=off",
    ];
    const flags = ["-D", path.join(this.#folder, "data"), ...settings.flatMap((setting) => ["-c", setting])];
    const child = spawn(path.join(programs() ?? "", "postgres"), flags, {
      ...user(),
      cwd: this.#folder,
      stdio: "ignore",
    });
    this.#process = child;
    const ready = path.join(programs() ?? "", "pg_isready");
    const asked = ["-h", "127.0.0.1", "-p", String(this.#port), "-q"];
    // Not by a synchronous call: the requests of a soak are sent by this process too.
    await until(() =>
      run(ready, asked).then(
        () => true,
        () => false,
      ),
    );
  }

  /** Goes away at once, and so do its connections. */
  async down(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGQUIT");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Debian's user without rights: PostgreSQL refuses to run as root. */
const nobody = 65_534;

function root(): boolean {
  return process.getuid?.() === 0;
}

function user(): { readonly uid?: number; readonly gid?: number } {
  return root() ? { uid: nobody, gid: nobody } : {};
}

/** The folder with the programs of the newest version. */
function programs(): string | null {
  return (
    globSync("/usr/lib/postgresql/*/bin")
      .toSorted()
      .findLast((folder) => globSync(`${folder}/initdb`).length > 0) ?? null
  );
}
