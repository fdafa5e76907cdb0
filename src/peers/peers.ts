import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationContract, CallOperation, ResponseOf } from "../operations/contract/operation-contract.ts";
import { readLogsContract } from "../operations/logs-contract.ts";
import { sandboxStatsContract } from "../operations/metrics-contract.ts";
import {
  packFilesContract,
  unpackFilesContract,
  execInSandboxContract,
  openTerminalContract,
} from "../operations/live-sandbox-contract.ts";
import { removeSandboxesContract } from "../operations/sandboxes-contract.ts";
import { connect } from "node:net";
import { throwIfCancelled } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { liveCall } from "../client/live-call.ts";
import type { PeerFolder } from "./peer-folder.ts";

/** The process that owns the sandbox has ended, or is about to. */
export function ownerLost(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The process that owns the sandbox has ended or does not answer.", {
    suggestion: "`glovebox ps` lists the sandboxes that there are; `glovebox prune` removes what ended processes left.",
    cause,
  });
}

/** What a process of this user does for the user's other processes, with its own sandboxes. */
const peerOperations: readonly OperationContract[] = [
  execInSandboxContract,
  openTerminalContract,
  packFilesContract,
  unpackFilesContract,
  removeSandboxesContract,
  sandboxStatsContract,
  readLogsContract,
];

/** Both ends send it, because their versions of Glovebox may differ. */
const version = 2;

/** The operation at a path; undefined: there is none. */
export function peerOperationAt(path: string | undefined): OperationContract | undefined {
  return peerOperations.find((contract) => peerPath(contract) === path);
}

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
   * The operations of the process at an address, called as the operator. Its calls throw what
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

/** Why a connection ended before its answer, from the connection's error. */
function brokenPeer(cause: unknown): GloveboxError {
  if (!(cause instanceof Error)) return ownerLost();
  const { code = "", message } = cause as NodeJS.ErrnoException;
  // Error messages of `ws` and of Node's HTTP parser for an answer that is not from a WebSocket of this version.
  const isOther = message.startsWith("Unexpected server response") || code.startsWith("HPE_");
  return isOther ? otherVersion(cause) : ownerLost(cause);
}

function otherVersion(cause: unknown): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The sandbox belongs to a process of another version of Glovebox.", {
    suggestion: "Use the command of that version, or restart that process with this one.",
    cause,
  });
}

/** Path of an operation's WebSocket, whose first message is the whole request. */
function peerPath({ name }: OperationContract): string {
  return `/${version}/${name}`;
}
