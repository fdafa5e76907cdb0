import { mebibyte } from "../../src/base/bytes.ts";
import { labels } from "../../src/engines/labels.ts";
import { createId } from "../../src/base/id.ts";
import type { Capabilities } from "../../src/engines/capabilities.ts";
import type { ContainerLimits, ContainerSpec } from "../../src/engines/container-spec.ts";
import type { Container, ContainerSummary, Engine, ExecSpec } from "../../src/engines/engine.ts";
import { RunningProcess, type FinishedProcess } from "../helpers/running-process.ts";
import type { SharedContainer } from "./shared-container.ts";
import type { Subject } from "./subject.ts";

/** What a test changes in the spec of its container. */
export type SpecChanges = Partial<Omit<ContainerSpec, "limits">> & { readonly limits?: Partial<ContainerLimits> };

export interface SceneParts {
  readonly engine: Engine;
  readonly subject: Subject;
  readonly capabilities: Capabilities;
  readonly owner: string;
  readonly shared: SharedContainer;
}

/** What one test works with; when it ends, every container of the test is removed, however the test ended. */
export class Scene implements AsyncDisposable {
  readonly engine: Engine;
  readonly subject: Subject;
  readonly capabilities: Capabilities;
  /** Value of the owner label of everything that this run of the suite makes. */
  readonly owner: string;
  /** Labels of all containers of this test, and of no others. */
  readonly labels: Readonly<Record<string, string>>;
  readonly #created: Container[] = [];
  readonly #shared: SharedContainer;

  constructor({ engine, subject, capabilities, owner, shared }: SceneParts) {
    this.engine = engine;
    this.subject = subject;
    this.capabilities = capabilities;
    this.owner = owner;
    this.#shared = shared;
    this.labels = {
      [labels.owner]: owner,
      [labels.kind]: "execute",
      [labels.sandbox]: createId("scene"),
      [labels.expiresAt]: new Date(Date.now() + 600_000).toISOString(),
    };
  }

  /** A container's spec with a new name; small, without network, with two writable folders. */
  spec({ limits, ...changes }: SpecChanges = {}): ContainerSpec {
    return {
      name: createId("glovebox-contract"),
      image: this.subject.images.minimal,
      workingDirectory: "/work",
      labels: this.labels,
      ...(this.subject.ociRuntime === undefined ? {} : { ociRuntime: this.subject.ociRuntime }),
      limits: { cpus: 1, memoryBytes: 256 * mebibyte, pids: 64, ...limits },
      scratch: [
        { path: "/work", sizeBytes: 16 * mebibyte },
        { path: "/tmp", sizeBytes: 16 * mebibyte },
      ],
      ...changes,
    };
  }

  async create(changes?: SpecChanges): Promise<Container> {
    const container = await this.engine.create(this.spec(changes));
    this.#created.push(container);
    return container;
  }

  /** A started container without a main command. */
  async idle(changes?: SpecChanges): Promise<Container> {
    const container = await this.create(changes);
    await container.start();
    return container;
  }

  /**
   * Like `idle()`, but shared by all behaviours that ask for it, one after another: for programs that neither leave
   * anything behind nor are affected by what others have left.
   */
  shared(): Promise<Container> {
    return this.#shared.get(() => this.engine.create(this.spec({ labels: this.#shared.labels(this.labels) })));
  }

  /** A started container with a main command, attached to it. */
  async main(
    command: readonly string[],
    changes?: SpecChanges,
  ): Promise<{ container: Container; main: RunningProcess }> {
    const container = await this.create({ command, ...changes });
    const main = new RunningProcess(await container.attach());
    await container.start();
    return { container, main };
  }

  async exec(container: Container, command: readonly string[], spec?: Partial<ExecSpec>): Promise<RunningProcess> {
    return new RunningProcess(await container.exec({ command, ...spec }));
  }

  /** Runs a program in the container to its end, with empty input. */
  async run(container: Container, command: readonly string[], spec?: Partial<ExecSpec>): Promise<FinishedProcess> {
    const running = await this.exec(container, command, spec);
    return running.finish();
  }

  /** What the engine lists for this test. */
  containers(): Promise<readonly ContainerSummary[]> {
    return this.engine.list(this.labels);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#created.map((container) => container.remove()));
    // Includes those of aborted calls, for which the test never got a handle.
    await Promise.all((await this.containers()).map((summary) => summary.remove()));
  }
}
