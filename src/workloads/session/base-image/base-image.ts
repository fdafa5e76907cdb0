import { untilCancelled } from "../../../base/abort.ts";
import { mebibyte } from "../../../base/bytes.ts";
import { readPackagedScript } from "../../../base/packaged-script.ts";
import { tarOf } from "../../../base/tar/tar.ts";
import type { Engine, PullProgress } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { defaultSessionImage } from "../../../policy/session-profile.ts";
import { runSandboxCommand } from "../../../sandbox/sandbox-command.ts";
import type { Sandboxes } from "../../../sandbox/sandboxes.ts";
import { bunLabel, bunVersion, type BunTarget } from "./bun-packages.ts";
import { fetchBun, type FetchBunOptions } from "./fetch-bun.ts";

export interface BaseImageOptions extends Omit<FetchBunOptions, "signal"> {
  /** The image that it is built on. */
  readonly base: string;
  /** For a look into the base; takes no place of a run's. */
  readonly sandboxes: Sandboxes;
}

/** What a build tells. */
export interface BuildListener {
  readonly onPull: (image: string, progress: PullProgress) => void;
  readonly onBuild: (image: string, line: string) => void;
}

/** A build under way, and who follows it. */
interface Build {
  readonly done: Promise<void>;
  readonly listeners: Set<BuildListener>;
}

/** What the look into the base prints. */
const lookScript = "ls /lib/ld-musl-* >/dev/null 2>&1 && echo musl; uname -m";

/** The image `bun-runner-base`: built when it is missing, once however many ask for it (SPEC IM2). */
export class BaseImage {
  readonly #options: BaseImageOptions;
  readonly #builds = new Map<Engine, Build>();

  constructor(options: BaseImageOptions) {
    this.#options = options;
  }

  /**
   * Builds it, or waits for the build under way. A caller that gives up leaves the build to the others.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, CANCELLED
   */
  async build(engine: Engine, listener: BuildListener, signal?: AbortSignal): Promise<void> {
    let build = this.#builds.get(engine);
    if (build === undefined) {
      const listeners = new Set<BuildListener>();
      const everyone: BuildListener = {
        onPull: (...told) => listeners.forEach(({ onPull }) => onPull(...told)),
        onBuild: (...told) => listeners.forEach(({ onBuild }) => onBuild(...told)),
      };
      build = { listeners, done: this.#build(engine, everyone).finally(() => this.#builds.delete(engine)) };
      this.#builds.set(engine, build);
    }
    build.listeners.add(listener);
    try {
      await untilCancelled(build.done, signal);
    } finally {
      build.listeners.delete(listener);
    }
  }

  async #build(engine: Engine, { onPull, onBuild }: BuildListener): Promise<void> {
    const { base } = this.#options;
    if (!(await engine.images.has(base))) {
      await engine.images.pull(base, { onProgress: (progress) => onPull(base, progress) });
    }
    onBuild(defaultSessionImage, `fetching Bun ${bunVersion}`);
    const bun = await fetchBun(await this.#targetOf(engine), this.#options);
    const dockerfile = await readPackagedScript(
      new URL("../../../../images/bun-runner-base/Dockerfile", import.meta.url),
    );
    await engine.images.build(
      {
        reference: defaultSessionImage,
        context: tarOf([
          { path: "Dockerfile", content: Buffer.from(dockerfile) },
          { path: "bun.tgz", content: bun },
        ]),
        arguments: { BASE: base },
        labels: { [bunLabel]: bunVersion },
      },
      { onLine: (line) => onBuild(defaultSessionImage, line) },
    );
  }

  /** Which of Bun's packages runs on the base: its C library and its processor decide. */
  async #targetOf(engine: Engine): Promise<BunTarget> {
    const { base, sandboxes } = this.#options;
    await using sandbox = await sandboxes.open(
      engine,
      {
        kind: "build",
        image: base,
        limits: { cpus: 1, memoryBytes: 128 * mebibyte, pids: 32 },
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
    const isMusl = words.includes("musl");
    if (words.includes("x86_64")) return isMusl ? "x64-musl" : "x64";
    if (words.includes("aarch64")) return isMusl ? "aarch64-musl" : "aarch64";
    throw new GloveboxError("IMAGE_UNAVAILABLE", `There is no Bun for the processor of image ${base}.`, {
      suggestion: "Choose a base image for x86-64 or 64-bit ARM (images.session_base).",
      context: { image: base },
    });
  }
}
