import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** Why Redis cannot be started here; null when it can. */
export function redisProblem(): string | null {
  return spawnSync("redis-server", ["--version"]).error === undefined
    ? null
    : "Debian's package redis-server is not installed";
}

/** A real Redis that keeps nothing on disk, and can go away and come back at the same address. */
export class RedisServer implements AsyncDisposable {
  readonly #port: number;
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-redis-"));
  #process: ChildProcess | undefined;

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.up();
    return server;
  }

  private constructor(port: number) {
    this.#port = port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  async up(): Promise<void> {
    const flags = ["--port", String(this.#port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    // Subscribers may fall behind by everything that a test publishes.
    const patient = ["--client-output-buffer-limit", "pubsub", "0", "0", "0"];
    this.#process = spawn("redis-server", [...flags, ...patient], { cwd: this.#folder, stdio: "ignore" });
    await until(() => this.#answers());
  }

  async down(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    const socket = connect(this.#port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}
