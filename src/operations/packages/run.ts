import { mebibyte } from "../../base/bytes.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Operation } from "../operation.ts";
import {
  listPackagesRequestSchema,
  listPackagesResponseSchema,
  prunePackagesRequestSchema,
  prunePackagesResponseSchema,
  type PackageSetRow,
} from "./schema.ts";

type CachedSets = Awaited<ReturnType<Platform["packages"]["list"]>>;

/** What the package cache holds (SPEC PK4). */
export const listPackagesOperation: Operation<
  typeof listPackagesRequestSchema,
  typeof listPackagesResponseSchema,
  Platform
> = {
  name: "list_packages",
  description: "Lists the installed packages that are kept for later runs, and how much disk they take.",
  request: listPackagesRequestSchema,
  response: listPackagesResponseSchema,
  run: async ({ packages, config }) => {
    const sets = await packages.list();
    return { sets: sets.map(toRow), size_mb: sizeOf(sets), max_mb: inMegabytes(config.packages.maxBytes) };
  },
};

/** Makes room in the package cache. */
export const prunePackagesOperation: Operation<
  typeof prunePackagesRequestSchema,
  typeof prunePackagesResponseSchema,
  Platform
> = {
  name: "prune_packages",
  description: "Removes the installed packages not used for longest until the rest has the size; none that a run uses.",
  request: prunePackagesRequestSchema,
  response: prunePackagesResponseSchema,
  run: async ({ packages }, { max_mb: megabytes }) => {
    const removed = await packages.prune(megabytes === undefined ? undefined : megabytes * mebibyte);
    return { removed: removed.map(toRow), size_mb: sizeOf(await packages.list()) };
  },
};

function toRow({ id, record, lastUsedAtMs, inUse }: CachedSets[number]): PackageSetRow {
  const separator = record.ecosystem === "python" ? "==" : "@";
  return {
    id,
    requested: [...record.requested],
    packages: record.packages.map(({ name, version }) => `${name}${separator}${version}`),
    ecosystem: record.ecosystem,
    installed_by: record.manager,
    platform: record.platform,
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
