import { mebibyte } from "../base/bytes.ts";
import type { Config } from "../config/config.ts";
import type { Packages } from "../packages/packages.ts";
import { handle } from "./handler.ts";
import { listPackagesContract, prunePackagesContract, type PackageSetRow } from "./packages-contract.ts";

export interface PackageNeeds {
  readonly config: Config;
  readonly packages: Packages;
}

type CachedSets = Awaited<ReturnType<Packages["list"]>>;

/** The content of the package cache (SPEC PK4). */
export const listPackagesHandler = handle(listPackagesContract, async ({ packages, config }: PackageNeeds) => {
  const sets = await packages.list();
  return { sets: sets.map(toRow), size_mb: sizeOf(sets), max_mb: inMegabytes(config.packages.maxBytes) };
});

/** Prunes the package cache. */
export const prunePackagesHandler = handle(
  prunePackagesContract,
  async ({ packages }: PackageNeeds, { max_mb: megabytes }) => {
    const removed = await packages.prune(megabytes === undefined ? undefined : megabytes * mebibyte);
    return { removed: removed.map(toRow), size_mb: sizeOf(await packages.list()) };
  },
);

function toRow({ id, record, lastUsedAtMs, inUse }: CachedSets[number]): PackageSetRow {
  const separator = record.ecosystem === "python" ? "==" : "@";
  return {
    id,
    requested: [...record.requested],
    packages: record.packages.map(({ name, version }) => `${name}${separator}${version}`),
    ecosystem: record.ecosystem,
    installed_by: record.manager,
    platform: record.platform,
    engine: record.origin.engine,
    image: record.origin.image,
    principal: record.origin.principal,
    size_mb: inMegabytes(record.bytes),
    created_at: new Date(record.createdAtMs).toISOString(),
    last_used_at: new Date(lastUsedAtMs).toISOString(),
    in_use: inUse,
  };
}

function sizeOf(sets: CachedSets): number {
  return inMegabytes(sets.reduce((sum, { record }) => sum + record.bytes, 0));
}

function inMegabytes(bytes: number): number {
  return Math.round((bytes / mebibyte) * 100) / 100;
}
