import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const upMs = 30_000;
const tries = 100;

/** How one kind of engine is started with its whole state in one folder. */
interface Recipe {
  readonly command: (folder: string) => readonly string[];
  /** Copies an image into it from the engine that serves all tests. */
  readonly load: (folder: string, image: string) => string;
}

const recipes = {
  docker: {
    // In a separate network namespace: a daemon without a bridge deletes the host's `docker0`, even another daemon's.
    command: (folder) => [
      ...["unshare", "--net", "--", "dockerd"],
      ...["--config-file", `${folder}/daemon.json`, "--host", `unix://${folder}/engine.sock`],
      ...["--data-root", `${folder}/data`, "--exec-root", `${folder}/exec`, "--pidfile", `${folder}/pid`],
      ...["--bridge", "none", "--iptables=false", "--ip6tables=false", "--shutdown-timeout", "5"],
    ],
    load: (folder, image) => `docker save ${image} | docker --host unix://${folder}/engine.sock load`,
  },
  podman: {
    command: (folder) => [...podman(folder), "system", "service", "--time", "0", `unix://${folder}/engine.sock`],
    load: (folder, image) => `podman save ${image} | ${podman(folder).join(" ")} load`,
  },
} as const satisfies Record<string, Recipe>;

function podman(folder: string): readonly string[] {
  return ["podman", "--root", `${folder}/data`, "--runroot", `${folder}/exec`, "--tmpdir", `${folder}/tmp`];
}

/** An engine for one test, which may be killed; when it ends, everything that belongs to it is removed. */
export class OwnEngine implements AsyncDisposable {
  readonly folder: string;
  readonly #recipe: Recipe;
  #daemon: ChildProcess;

  static async start(kind: keyof typeof recipes, image: string): Promise<OwnEngine> {
    const folder = mkdtempSync(join(tmpdir(), `glovebox-${kind}-`));
    mkdirSync(`${folder}/tmp`);
    writeFileSync(`${folder}/daemon.json`, "{}");
    const engine = new OwnEngine(folder, recipes[kind]);
    try {
      await engine.#untilUp();
      await engine.load(image);
      return engine;
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(folder: string, recipe: Recipe) {
    this.folder = folder;
    this.#recipe = recipe;
    this.#daemon = this.#spawn();
  }

  get socketPath(): string {
    return `${this.folder}/engine.sock`;
  }

  /** Copies an image into it from the engine that serves all tests. */
  async load(image: string): Promise<void> {
    await promisify(execFile)("sh", ["-c", this.#recipe.load(this.folder, image)]);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#daemon.kill("SIGKILL");
    if (this.#daemon.exitCode === null && this.#daemon.signalCode === null) await once(this.#daemon, "exit");
  }

  async restart(): Promise<void> {
    rmSync(this.socketPath, { force: true });
    // A recorded pid may belong to another process by now, or to a zombie.
    for (const file of ["pid", "exec/containerd/containerd.pid"]) rmSync(`${this.folder}/${file}`, { force: true });
    this.#daemon = this.#spawn();
    await this.#untilUp();
  }

  /** Ids of all processes that name its folder: its daemons, and the monitors of its containers. */
  processes(): readonly number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((id) => readText(`/proc/${id}/cmdline`).includes(this.folder))
      .map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#daemon.kill("SIGTERM");
    for (let tried = 0; tried < tries && this.processes().length > 0; tried++) {
      if (tried > 60) for (const id of this.processes()) end(id);
      await sleep(100);
    }
    // Mounts of containers that the daemon could not unmount.
    const mounts = readText("/proc/self/mounts")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    for (const mount of mounts.filter((path) => path.startsWith(this.folder)).toReversed()) {
      await promisify(execFile)("umount", ["--lazy", mount]);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(): ChildProcess {
    const [file = "", ...values] = this.#recipe.command(this.folder);
    return spawn(file, values, { stdio: "ignore", cwd: "/" });
  }

  async #untilUp(): Promise<void> {
    for (const until = performance.now() + upMs; performance.now() < until; await sleep(100)) {
      if (await this.#answers()) return;
      if (this.#daemon.exitCode !== null)
        throw new Error(`The engine of the test's own ended: ${this.#daemon.exitCode}`);
    }
    throw new Error("The engine of the test's own does not answer.");
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const asked = request({ socketPath: this.socketPath, path: "/_ping", timeout: 5_000 }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked
        .on("error", () => resolve(false))
        .on("timeout", () => asked.destroy())
        .end();
    });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function end(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
