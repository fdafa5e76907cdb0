import { packageName, type Ecosystem } from "../../policy/install-policy.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { PackageView } from "../../packages/package-view.ts";
import { packageFolders } from "../../packages/package-manager.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";

/** The packages that a session's programs can import, as specifications. */
export type SessionPackages = Readonly<Record<Ecosystem, readonly string[]>>;

export const noPackages: SessionPackages = { npm: [], python: [] };

/** Those with the wanted ones added; null when they are all there. One with a version replaces another. */
export function withPackages(
  known: SessionPackages,
  ecosystem: Ecosystem,
  wanted: readonly string[],
): SessionPackages | null {
  const byName = new Map(known[ecosystem].map((spec) => [packageName(spec, ecosystem), spec]));
  let isChanged = false;
  for (const spec of wanted) {
    const name = packageName(spec, ecosystem);
    const had = byName.get(name);
    // A bare name accepts any version.
    if (had === spec || (had !== undefined && spec.toLowerCase() === name)) continue;
    byName.set(name, spec);
    isChanged = true;
  }
  return isChanged ? { ...known, [ecosystem]: [...byName.values()].toSorted() } : null;
}

export const ecosystems: readonly Ecosystem[] = ["npm", "python"];

/** What one language's packages of a sandbox are. */
interface Provided {
  readonly ecosystem: Ecosystem;
  readonly packages: ProvidedPackages;
}

/** The packages of one sandbox, held for as long as it lives. */
export class SandboxPackages implements AsyncDisposable {
  readonly #view: PackageView | null;
  readonly #provided: Provided[] = [];
  #specs: SessionPackages;

  /** `view`: null where a sandbox cannot get more packages while it lives. */
  constructor(specs: SessionPackages, view: PackageView | null) {
    this.#specs = specs;
    this.#view = view;
  }

  get specs(): SessionPackages {
    return this.#specs;
  }

  /** Whether the sandbox can get more of them while it lives. */
  get canGrow(): boolean {
    return this.#view !== null;
  }

  get mounts(): readonly MountSpec[] {
    const view = this.#view;
    if (view === null) return this.#provided.map(({ packages }) => packages.mount);
    return ecosystems.map((ecosystem) => ({
      ...{ source: view.folderOf(ecosystem), target: packageFolders[ecosystem] },
      ...{ readOnly: true, unchanging: true },
    }));
  }

  /** What leads Python to them, which stands before all that PYTHONPATH has. */
  get pythonPath(): string | undefined {
    return this.#provided.find(({ ecosystem }) => ecosystem === "python")?.packages.environment["PYTHONPATH"];
  }

  /** What every result must report about them, each sentence once. */
  get warnings(): readonly string[] {
    return [...new Set(this.#provided.flatMap(({ packages }) => packages.warnings))];
  }

  /** Whether these bring no other version of what the sandbox has. */
  accepts({ set }: ProvidedPackages): boolean {
    return this.#view === null || this.#view.accepts(set);
  }

  /**
   * Takes these over, to let go of them with the rest, whatever comes of it. Gives the path in the sandbox of something
   * that is new, or null when nothing is.
   */
  async add(ecosystem: Ecosystem, packages: ProvidedPackages): Promise<string | null> {
    this.#provided.push({ ecosystem, packages });
    const added = (await this.#view?.add(packages.set)) ?? null;
    return added === null ? null : `${packageFolders[ecosystem]}/${added}`;
  }

  /** From now on it has all of these. */
  become(specs: SessionPackages): void {
    this.#specs = specs;
  }

  /** The wanted packages in the versions that are here. */
  resolved(ecosystem: Ecosystem, wanted: readonly string[]): readonly string[] {
    const mine = this.#provided.filter((each) => each.ecosystem === ecosystem);
    const byName = new Map(
      mine.flatMap(({ packages }) => packages.resolved.map((spec) => [packageName(spec, ecosystem), spec])),
    );
    return wanted.flatMap((spec) => byName.get(packageName(spec, ecosystem)) ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#view?.[Symbol.asyncDispose]();
    await Promise.all(this.#provided.map(({ packages }) => packages[Symbol.asyncDispose]()));
  }
}
