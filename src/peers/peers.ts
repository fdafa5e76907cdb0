import { connect } from "node:net";
import { throwIfCancelled } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { liveCall } from "../client/live-call.ts";
import type { CallOperation, ResponseOf } from "../operations/contract/operation-contract.ts";
import { brokenPeer } from "./peer-errors.ts";
import type { PeerFolder } from "./peer-folder.ts";
import { peerPath } from "./peer-operations.ts";

/** How long another process may take to accept a call, by default. */
const defaultAcceptMs = 10_000;
/** Maximum size of an answer: above both streams of a program at the largest `max_output_bytes`, as JSON. */
const maxAnswerBytes = 512 * mebibyte;

/** The other processes of this user on this machine, which have their own sandboxes. */
export class Peers {
  readonly #folder: Pick<PeerFolder, "assertOwn" | "others">;
  readonly #acceptMs: number;

  constructor(folder: Pick<PeerFolder, "assertOwn" | "others">, acceptMs: number = defaultAcceptMs) {
    this.#folder = folder;
    this.#acceptMs = acceptMs;
  }

  /** Addresses of those that can be contacted. */
  addresses(): Promise<readonly string[]> {
    return this.#folder.others();
  }

  /**
   * The operations of the process at an address (`peer-operations.ts`), called as the operator. Its calls throw what
   * the operation throws; SANDBOX_LOST if the process has ended, is ending or does not answer, UNSUPPORTED if its
   * version differs, PERMISSION_DENIED if the address is not only this user's, CANCELLED.
   */
  at(address: string): CallOperation {
    return async (contract, request, call) => {
      throwIfCancelled(call.signal);
      await this.#folder.assertOwn(address);
      // Loaded on use: most processes never contact another one.
      const { WebSocket } = await import("ws");
      const socket = new WebSocket(`ws://localhost${peerPath(contract)}`, {
        // The time limit for the handshake is set on the connection.
        createConnection: () => connect({ path: address, timeout: this.#acceptMs }),
        handshakeTimeout: this.#acceptMs,
        maxPayload: maxAnswerBytes,
        perMessageDeflate: false,
      });
      let cause: unknown;
      socket.on("error", (error) => (cause ??= error));
      const answer = await liveCall(socket, contract, request, { ...call, onBroken: () => brokenPeer(cause) });
      return answer as ResponseOf<typeof contract>;
    };
  }
}
