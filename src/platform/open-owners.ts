import path from "node:path";
import { createId } from "../base/id.ts";
import { peerFolder } from "../config/host/host-paths.ts";
import type { Host } from "../config/host/host.ts";
import type { CallOperation } from "../operations/contract/operation-contract.ts";
import { PeerFolder } from "../peers/peer-folder.ts";
import { PeerServer } from "../peers/peer-server.ts";
import { Peers } from "../peers/peers.ts";
import { Leases } from "../sandbox/owners/leases.ts";
import { identityOf, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import { Reaper } from "../sandbox/owners/reaper.ts";
import { SandboxRecords } from "../sandbox/owners/sandbox-records.ts";
import { DiskScratch } from "../sandbox/disk-scratch.ts";
import { WorkArchives } from "../sandbox/work-archives.ts";
import type { Kit } from "../base/kit.ts";

/** Who owns the sandboxes, and what other processes of this user can see of that. */
export interface Owners {
  /** Id of this process as an owner of sandboxes. */
  readonly owner: string;
  readonly identity: ProcessIdentity;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  readonly archives: WorkArchives;
  readonly diskScratch: DiskScratch;
  readonly peerServer: PeerServer;
  readonly peers: Peers;
  readonly reaper: Reaper;
  /** Engines' names, by ids of sandboxes that ended but could not be removed; the reaper removes them later. */
  readonly stranded: Map<string, string>;
}

export interface OwnersOptions {
  readonly kit: Kit;
  readonly host: Host;
  /** Requests of the user's other processes to this one. */
  readonly callHere: CallOperation;
}

/** Nothing is written or removed yet. */
export function openOwners({ host, kit, callHere }: OwnersOptions): Owners {
  const { logger, now } = kit;
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
  const archives = new WorkArchives({ folder: path.join(stateDirectory, "sessions"), uid, owner, leases, logger });
  const scratchFolder = path.join(stateDirectory, "scratch");
  const diskScratch = new DiskScratch({ folder: scratchFolder, uid, platform, owner, leases });
  const folder = new PeerFolder({ folder: peerFolder(host), owner, uid, platform, leases });
  const peerServer = new PeerServer({ folder, platform, call: callHere, logger });
  const stranded = new Map<string, string>();
  const reaper = new Reaper({ leases, records, archives, diskScratch, peerFolder: folder, stranded, logger, now });
  return {
    owner,
    identity,
    leases,
    records,
    archives,
    diskScratch,
    peerServer,
    peers: new Peers(folder),
    reaper,
    stranded,
  };
}
