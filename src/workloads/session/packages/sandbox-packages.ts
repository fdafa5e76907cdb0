import type { MountSpec } from "../../../engines/container-spec.ts";
import type { ProvidedPackages } from "../../../packages/packages.ts";
import { packageName, type Ecosystem } from "../../../policy/package-specs.ts";
import type { SessionPackages } from "./session-packages.ts";

/** The packages of one sandbox, held for as long as it lives. */
export class SandboxPackages implements AsyncDisposable {
  readonly specs: SessionPackages;
  readonly #provided: Readonly<Partial<Record<Ecosystem, ProvidedPackages>>>;

  constructor(specs: SessionPackages, provided: Readonly<Partial<Record<Ecosystem, ProvidedPackages>>>) {
    this.specs = specs;
    this.#provided = provided;
  }

  get mounts(): readonly MountSpec[] {
    return Object.values(this.#provided).map(({ mount }) => mount);
  }

  /** What leads Python to them, which stands before all that PYTHONPATH has. */
  get pythonPath(): string | undefined {
    return this.#provided.python?.environment["PYTHONPATH"];
  }

  /** What every result must tell of them, each sentence once. */
  get warnings(): readonly string[] {
    return [...new Set(Object.values(this.#provided).flatMap(({ warnings }) => warnings))];
  }

  /** The wanted ones of them in the versions that they have. */
  resolved(ecosystem: Ecosystem, wanted: readonly string[]): readonly string[] {
    const names = new Set(wanted.map((spec) => packageName(spec, ecosystem)));
    const resolved = this.#provided[ecosystem]?.resolved ?? [];
    return this.specs[ecosystem].flatMap((spec, index) =>
      names.has(packageName(spec, ecosystem)) ? (resolved[index] ?? []) : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.#provided).map((each) => each[Symbol.asyncDispose]()));
  }
}
