import { untilCancelled } from "../../base/abort.ts";
import type { PullProgress, Engine } from "../../engines/engine.ts";
import { mebibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";

/** What a build of an image reports. */
export interface BuildListener {
  readonly onPull: (image: string, progress: PullProgress) => void;
  readonly onBuild: (image: string, line: string) => void;
}

/** A build in progress, and who follows it. */
interface Build {
  readonly done: Promise<void>;
  readonly listeners: Set<BuildListener>;
}

/** Builds that many may request at once: each is done once, and reports to all who wait for it. */
export class SharedBuilds<Key> {
  readonly #builds = new Map<Key, Build>();

  /**
   * Starts the build with that key, or joins the one in progress. A caller that gives up leaves it to the others.
   * @throws what the build throws; CANCELLED
   */
  async join(
    key: Key,
    start: (listener: BuildListener) => Promise<void>,
    { listener, signal }: { readonly listener: BuildListener; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    let build = this.#builds.get(key);
    if (build === undefined) {
      const listeners = new Set<BuildListener>();
      const everyone: BuildListener = {
        onPull: (...told) => listeners.forEach(({ onPull }) => onPull(...told)),
        onBuild: (...told) => listeners.forEach(({ onBuild }) => onBuild(...told)),
      };
      build = { listeners, done: start(everyone).finally(() => this.#builds.delete(key)) };
      this.#builds.set(key, build);
    }
    build.listeners.add(listener);
    try {
      await untilCancelled(build.done, signal);
    } finally {
      build.listeners.delete(listener);
    }
  }
}

/** What decides which programs run on a Linux: its processor and its C library. */
export interface LinuxTarget {
  readonly cpu: "x64" | "arm64";
  readonly libc: "glibc" | "musl";
}

/** What the script that looks into the base prints. */
const lookScript = "ls /lib/ld-musl-* >/dev/null 2>&1 && echo musl; uname -m";

/**
 * Which Linux the image is that another one is built on. The sandbox for that takes no run's place.
 * @throws IMAGE_UNAVAILABLE for another processor
 */
export async function lookAtBase(
  engine: Engine,
  base: string,
  { sandboxes, setting }: { readonly sandboxes: Sandboxes; readonly setting: string },
): Promise<LinuxTarget> {
  await using sandbox = await sandboxes.open(
    engine,
    {
      kind: "build",
      image: base,
      // Engines whose containers are virtual machines give no less memory than this.
      limits: { cpus: 1, memoryBytes: 256 * mebibyte, pids: 32 },
      scratch: [],
      lifetimeMs: 300_000,
    },
    { principal: "glovebox" },
  );
  const { stdout } = await runSandboxCommand(sandbox, {
    command: ["sh", "-c", lookScript],
    maxOutputBytes: 1024,
    timeLimitMs: 30_000,
  });
  const words = stdout.text().split("\n");
  const libc = words.includes("musl") ? "musl" : "glibc";
  if (words.includes("x86_64")) return { cpu: "x64", libc };
  if (words.includes("aarch64")) return { cpu: "arm64", libc };
  throw new GloveboxError("IMAGE_UNAVAILABLE", `Image ${base} is for a processor that nothing is built for.`, {
    suggestion: `Choose a base image for x86-64 or 64-bit ARM (${setting}).`,
    context: { image: base },
  });
}
