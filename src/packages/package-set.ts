import { createHash } from "node:crypto";
import type { Ecosystem } from "../policy/install-policy.ts";
import type { EngineName } from "../engines/engine.ts";
import type { PackageManager } from "./package-manager.ts";
import type { ResolvedPackage } from "./resolved-package.ts";

/** Where a set was installed, and so who may use it (SPEC PK4). */
export interface PackageOrigin {
  readonly engine: EngineName;
  /** Digest of the image whose tools installed it; where there are no images, the name of the host's interpreters. */
  readonly image: string;
  /** Whether the tool ran on this machine itself, outside a sandbox. */
  readonly onHost: boolean;
  /** Whose alone it is, because the image was a caller's choice; null: of all, the operator having configured the image. */
  readonly principal: string | null;
}

/** What installed a project's dependencies; never the tool of a list of packages, so that no list can mean such a set. */
export type ProjectManager = `project/${string}`;

/** What makes two sets of packages the same one. */
export interface PackageSetKey {
  readonly ecosystem: Ecosystem;
  readonly manager: PackageManager | ProjectManager;
  readonly origin: PackageOrigin;
  /** The interpreter's version as far as packages depend on it, operating system, processor and C library: its own words. */
  readonly platform: string;
  /** As `checkPackages` gives them; of a project the names of files, and a digest. */
  readonly requested: readonly string[];
}

/** What is written beside the files of a set. */
export interface PackageSetRecord extends PackageSetKey {
  readonly version: 2;
  readonly packages: readonly ResolvedPackage[];
  readonly files: number;
  readonly folders: number;
  /** Room on the disk: whole blocks, one at least for each file and folder. */
  readonly bytes: number;
  readonly createdAtMs: number;
}

/** Folder name of a set. */
export function packageSetId({ ecosystem, manager, origin, platform, requested }: PackageSetKey): string {
  const { engine, image, onHost, principal } = origin;
  const text = JSON.stringify([2, ecosystem, manager, [engine, image, onHost, principal], platform, requested]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
