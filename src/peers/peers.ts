import { connect } from "node:net";
import { throwIfCancelled } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { liveCall } from "../client/live/live-call.ts";
import type { CallOperation } from "../operations/contract/operation-call.ts";
import type { ResponseOf } from "../operations/contract/operation-contract.ts";
import { brokenPeer } from "./peer-errors.ts";
import type { PeerFolder } from "./peer-folder.ts";
import { peerPath } from "./peer-operations.ts";

/** How long another process may take to accept a call, unless it is said. */
const defaultAcceptMs = 10_000;
/** Of an answer: above both streams of a program at the largest `max_output_bytes`, as JSON. */
const maxAnswerBytes = 512 * mebibyte;

/** The other processes of this user on this machine, which have sandboxes of their own. */
export class Peers {
  readonly #folder: Pick<PeerFolder, "assertOwn" | "others">;
  readonly #acceptMs: number;

  constructor(folder: Pick<PeerFolder, "assertOwn" | "others">, acceptMs: number = defaultAcceptMs) {
    this.#folder = folder;
    this.#acceptMs = acceptMs;
  }

  /** Addresses of those that can be asked. */
  addresses(): Promise<readonly string[]> {
    return this.#folder.others();
  }

  /**
   * What the process at an address does for others (`peer-operations.ts`), in the name of the operator.
   * Its calls throw what the operation throws; SANDBOX_LOST when the process has ended, ends or does not answer, UNSUPPORTED when
   * it is of another version, PERMISSION_DENIED when the address is not this user's alone, CANCELLED.
   */
  at(address: string): CallOperation {
    return async (contract, request, call) => {
      throwIfCancelled(call.signal);
      await this.#folder.assertOwn(address);
      // Loaded on use: most processes never ask another one.
      const { WebSocket } = await import("ws");
      const socket = new WebSocket(`ws://localhost${peerPath(contract)}`, {
        // The time for the handshake is one of the connection.
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
