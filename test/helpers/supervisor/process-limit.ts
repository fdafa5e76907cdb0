import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group that bounds the number of processes, and how a command is begun in it. */
export class ProcessLimit implements Disposable {
  readonly folder: string;

  private constructor(folder: string, processes: number) {
    this.folder = folder;
    mkdirSync(folder);
    writeFileSync(join(folder, "pids.max"), String(processes));
  }

  /** Makes one; the reason why not, where these tests may not. */
  static make(processes: number): ProcessLimit | string {
    const name = `glovebox-test-${process.pid}-${Date.now()}`;
    const root = "/sys/fs/cgroup";
    try {
      if (existsSync(`${root}/pids/pids.max`) || existsSync(`${root}/pids/cgroup.procs`)) {
        return new ProcessLimit(`${root}/pids/${name}`, processes);
      }
      if (readFileSync(`${root}/cgroup.subtree_control`, "utf8").split(/\s/).includes("pids")) {
        return new ProcessLimit(`${root}/${name}`, processes);
      }
      return "the machine's control groups do not count processes";
    } catch (error) {
      return `no control group can be made: ${String(error)}`;
    }
  }

  /** How often a fork has failed for want of room. */
  get failures(): number {
    return Number(/max (\d+)/.exec(readFileSync(join(this.folder, "pids.events"), "utf8"))?.[1]);
  }

  get starter(): readonly string[] {
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', this.folder];
  }

  [Symbol.dispose](): void {
    for (let tries = 0; tries < 100; tries++) {
      try {
        rmdirSync(this.folder);
        return;
      } catch {
        // Its last process is still going.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      }
    }
  }
}
