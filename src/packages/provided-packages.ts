import type { MountSpec } from "../engines/container-spec.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import type { PackageSetLease } from "./package-cache.ts";
import type { ViewedSet } from "./package-view.ts";
import { resolvedSpecs } from "./package-set.ts";
import { packageEnvironment, packageFolders } from "./package-manager.ts";

/** What a sandbox is given so that its imports resolve; to be disposed of when it has ended. */
export interface ProvidedPackages extends AsyncDisposable {
  readonly mount: MountSpec;
  /** The same for a view. */
  readonly set: ViewedSet;
  readonly environment: Readonly<Record<string, string>>;
  /** The packages asked for in the versions that they have, `lodash@4.17.21` or `requests==2.32.0`. */
  readonly resolved: readonly string[];
  /** What every result must tell of them, one sentence each. */
  readonly warnings: readonly string[];
  /** Keeps the same packages for another sandbox, until it is disposed of. @throws NOT_FOUND when they have gone */
  hold(): Promise<AsyncDisposable>;
}

/** Those of a set, which it keeps until they are disposed of. */
export function provided(
  lease: PackageSetLease,
  { ecosystem, warnings, hold }: Pick<ProvidedPackages, "warnings" | "hold"> & { readonly ecosystem: Ecosystem },
): ProvidedPackages {
  const { folder, record } = lease;
  return {
    mount: { source: folder, target: packageFolders[ecosystem], readOnly: true, unchanging: true },
    set: { ecosystem, folder, packages: record.packages },
    environment: packageEnvironment[ecosystem],
    resolved: resolvedSpecs(record),
    warnings,
    hold,
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  };
}
