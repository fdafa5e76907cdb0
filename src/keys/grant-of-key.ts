import type { Grant } from "../operations/contract/grant.ts";
import type { KeyRecord } from "./key-record.ts";

/** The word for everything that the deployment has, where the default is nothing. */
const all = "*";

/** What a key may do. Secrets and host folders must be listed explicitly. */
export function grantOfKey(record: KeyRecord): Grant {
  const { secrets = [], mount_roots: roots = [] } = record;
  return {
    maxSandboxes: record.sandboxes ?? null,
    ceilings: {
      cpus: record.max_cpus,
      memory_mb: record.max_memory_mb,
      timeout_seconds: record.max_timeout_seconds,
      pids: record.max_pids,
      disk_mb: record.max_disk_mb,
    },
    engines: record.engines ?? null,
    networks: record.network ?? null,
    images: record.images ?? null,
    secrets: secrets.includes(all) ? null : secrets,
    mountRoots: roots.includes(all) ? null : roots,
  };
}
