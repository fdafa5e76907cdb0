import { createHash } from "node:crypto";
import type { Ecosystem } from "../policy/package-specs.ts";
import type { PackageManager } from "./package-manager.ts";
import type { ResolvedPackage } from "./unpack.ts";

/** What makes two sets of packages the same one. */
export interface PackageSetKey {
  readonly ecosystem: Ecosystem;
  readonly manager: PackageManager;
  /** The interpreter's version as far as packages depend on it, operating system, processor and C library. */
  readonly platform: string;
  /** As `checkPackages` gives them. */
  readonly requested: readonly string[];
}

/** What is written beside the files of a set. */
export interface PackageSetRecord extends PackageSetKey {
  readonly version: 1;
  readonly packages: readonly ResolvedPackage[];
  readonly files: number;
  readonly bytes: number;
  readonly createdAtMs: number;
}

/** Folder name of a set. */
export function packageSetId({ ecosystem, manager, platform, requested }: PackageSetKey): string {
  const text = JSON.stringify([1, ecosystem, manager, platform, requested]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
