import type { AlertSink } from "../../base/alert-sink.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { compareTooling, type ChangedToolingFile, type ToolingGap } from "../../policy/tooling-changes.ts";
import type { ToolingFilesMode } from "../../policy/tooling-files.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { lockTooling } from "../../sandbox/lock-tooling.ts";
import { lookAtTooling, type ToolingLook } from "../../sandbox/look-at-tooling.ts";
import { toolingGaps, type ToolingReport } from "./explain-tooling.ts";
import type { HostMount } from "./host-mount.ts";

export interface OwnerToolingOptions {
  readonly mounts: readonly HostMount[];
  readonly platform: NodeJS.Platform;
  readonly toolingFiles: ToolingFilesMode;
  /** Paths in each folder that count in addition to those of the table. */
  readonly toolingPaths: readonly string[];
  readonly toolingAlerts: AlertSink<ToolingReport>;
  /** Targets of mounts that no tool of the owner looks into; default: none. */
  readonly unread?: ReadonlySet<string> | undefined;
  /** Removes secrets from names that the run chose. */
  readonly redact: (text: string) => string;
}

interface Looked {
  readonly mount: HostMount;
  readonly before: ToolingLook | null;
}

/**
 * Files of the folders that a run may write to, through which these run code on their owner's machine (SPEC MO2): as
 * they were before, and what the run has changed. Paths are those of the container.
 */
export class OwnerTooling implements AsyncDisposable {
  readonly #options: OwnerToolingOptions;
  readonly #written: readonly HostMount[];
  readonly #looked: readonly Looked[];
  #sandbox: string | null = null;
  #report: Promise<ToolingReport> | null = null;

  static async open(options: OwnerToolingOptions): Promise<OwnerTooling> {
    const written = options.mounts.filter(
      ({ readOnly, target, place }) => !readOnly && place.kind === "folder" && options.unread?.has(target) !== true,
    );
    const paths = written.map(({ place }) => place.realPath);
    const each = written.filter(({ place }, index) => paths.indexOf(place.realPath) === index);
    const looked = await Promise.all(each.map(async (mount) => ({ mount, before: await look(mount, options) })));
    return new OwnerTooling(options, written, looked);
  }

  private constructor(options: OwnerToolingOptions, written: readonly HostMount[], looked: readonly Looked[]) {
    this.#options = options;
    this.#written = written;
    this.#looked = looked;
  }

  /** Mounts over those that exist, so that they cannot be changed; none unless the deployment asks for that. */
  async locks(): Promise<readonly MountSpec[]> {
    const { toolingFiles, toolingPaths: morePaths, platform } = this.#options;
    if (toolingFiles !== "locked") return [];
    const locks = this.#written.map(({ place, target }) => lockTooling({ place, platform, morePaths }, target));
    return (await Promise.all(locks)).flat();
  }

  /** @throws UNSUPPORTED where it cannot be known whether the locks cover the files that they are for */
  begin({ id, mountsVerified }: Sandbox, { locks, engine }: { locks: readonly MountSpec[]; engine: EngineName }): void {
    this.#sandbox = id;
    if (locks.length === 0 || mountsVerified) return;
    throw new GloveboxError(
      "UNSUPPORTED",
      `tooling_files: "locked" needs mounts that can be verified, and engine ${engine} shows none here.`,
      {
        suggestion:
          "Choose an engine and an OCI runtime that run on this machine's own kernel; the operator can set it to named.",
        context: { engine, field: "tooling_files" },
      },
    );
  }

  /** What has changed, once the sandbox is gone; reported as an alert the first time. */
  end(): Promise<ToolingReport> {
    this.#report ??= this.#compare();
    return this.#report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#sandbox === null) return;
    await this.end();
    this.#options.toolingAlerts.ended(this.#sandbox);
  }

  async #compare(): Promise<ToolingReport> {
    const { redact, toolingAlerts } = this.#options;
    const changed: ChangedToolingFile[] = [];
    const gaps: ToolingGap[] = [];
    for (const { mount, before } of this.#looked) {
      const after = await look(mount, this.#options);
      gaps.push(...toolingGaps(before, after));
      if (before === null || after === null) continue;
      const files = compareTooling(before.snapshot, after.snapshot);
      changed.push(...files.map((file) => ({ ...file, root: mount.target, path: redact(file.path) })));
    }
    if (this.#sandbox !== null) toolingAlerts.happened(this.#sandbox, { changed, gaps });
    return { changed, gaps };
  }
}

function look({ place }: HostMount, { platform, toolingPaths }: OwnerToolingOptions): Promise<ToolingLook | null> {
  return lookAtTooling({ place, platform, morePaths: toolingPaths });
}
