import { readdir, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { assertOwnPeers, openOwnPeers } from "./own-peers.ts";
import type { Leases } from "../owners/leases.ts";
import { servePeer, type ServePeer } from "./serve-peer.ts";

export interface PeerServerOptions extends ServePeer {
  /** Folder of the sockets of all of this user's processes; made when it is missing, for this user only. */
  readonly folder: string;
  /** Owner id of this process. */
  readonly owner: string;
  /** Null where the system has no user ids. */
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
  readonly leases: Pick<Leases, "stateOf">;
}

/**
 * The way into the live sandboxes of this process for other processes of the same user: a unix socket in a folder that
 * only this user may enter, on Windows a named pipe. No mount reaches that folder (`protectedPlaces`).
 */
export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #calls = new Map<Socket, Promise<void>>();
  #opened: Promise<Server> | undefined;

  constructor(options: PeerServerOptions) {
    this.#options = options;
  }

  /** Opens it, once, and resolves to its address. */
  async open(): Promise<string> {
    this.#opened ??= this.#open();
    await this.#opened;
    return this.#address;
  }

  /** Ends all calls and the programs that they run, and closes it. */
  async close(): Promise<void> {
    const server = await this.#opened?.catch(() => undefined);
    server?.close();
    for (const socket of this.#calls.keys()) socket.destroy();
    await Promise.all(this.#calls.values());
  }

  /** Removes the sockets of processes that are gone. */
  async forgetLeft(): Promise<void> {
    const { folder, leases, platform, uid } = this.#options;
    if (platform === "win32") return;
    const isOurs = await assertOwnPeers(folder, uid).then(
      () => true,
      // Not there, or of somebody else, who is not to say what is removed.
      () => false,
    );
    const owners = isOurs ? await readdir(folder) : [];
    for (const owner of owners) {
      if ((await leases.stateOf(owner)) === "expired") await rm(path.join(folder, owner), { force: true });
    }
  }

  get #address(): string {
    const { folder, owner, platform } = this.#options;
    return platform === "win32" ? `\\\\.\\pipe\\glovebox-${owner}` : path.join(folder, owner);
  }

  async #open(): Promise<Server> {
    const { folder, uid, platform } = this.#options;
    if (platform !== "win32") await openOwnPeers(folder, uid);
    const server = createServer((socket) => this.#serve(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(this.#address, resolve);
    await promise;
    // A process ends when its own work is done, whoever might still come.
    server.unref();
    return server;
  }

  #serve(socket: Socket): void {
    const served = servePeer(socket, this.#options);
    this.#calls.set(socket, served);
    void served.then(() => this.#calls.delete(socket));
  }
}
