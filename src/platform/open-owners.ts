import path from "node:path";
import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import { peerFolder } from "../config/host/peer-folder.ts";
import type { Host } from "../config/host/host.ts";
import { Leases } from "../sandbox/owners/leases.ts";
import { identityOf, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import { Reaper } from "../sandbox/owners/reaper.ts";
import { SandboxRecords } from "../sandbox/owners/sandbox-records.ts";
import { PeerServer } from "../sandbox/peers/peer-server.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { WorkArchives } from "../sandbox/work-archives.ts";

/** Whose sandboxes they are, and what other processes of this user can see of it. */
export interface Owners {
  /** Id of this process as an owner of sandboxes. */
  readonly owner: string;
  readonly identity: ProcessIdentity;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  readonly archives: WorkArchives;
  readonly peerServer: PeerServer;
  readonly reaper: Reaper;
}

export interface OwnersOptions {
  readonly host: Host;
  readonly logger: Logger;
  readonly now: () => number;
  /** A live sandbox of this process. */
  readonly findLive: (id: string) => Sandbox | undefined;
  /** As `ServePeer.usageOf`. */
  readonly usageOf: (id: string) => unknown;
}

/** Nothing is written or removed yet. */
export function openOwners({ host, logger, now, findLive, usageOf }: OwnersOptions): Owners {
  const { uid, platform, stateDirectory, uptimeMs } = host;
  const owner = createId("own");
  const identity = identityOf(host.pid, host.hostName);
  const leases = new Leases({
    folder: path.join(stateDirectory, "leases"),
    uid,
    owner,
    identity,
    logger,
    now,
    uptimeMs,
  });
  const records = new SandboxRecords(path.join(stateDirectory, "sandboxes"), uid);
  const archives = new WorkArchives({ folder: path.join(stateDirectory, "sessions"), uid, owner, leases });
  const peerServer = new PeerServer({
    folder: peerFolder(host),
    owner,
    uid,
    platform,
    leases,
    find: findLive,
    usageOf,
    logger,
  });
  const reaper = new Reaper({ leases, records, archives, peerServer, logger, now });
  return { owner, identity, leases, records, archives, peerServer, reaper };
}
