import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { readLogsContract } from "../operations/logs-contract.ts";
import { sandboxStatsContract } from "../operations/metrics-contract.ts";
import {
  packFilesContract,
  unpackFilesContract,
  execInSandboxContract,
  openTerminalContract,
} from "../operations/live-sandbox-contract.ts";
import { removeSandboxesContract } from "../operations/sandboxes-contract.ts";

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

/** Path of an operation's WebSocket, whose first message is the whole request. */
export function peerPath({ name }: OperationContract): string {
  return `/${version}/${name}`;
}

/** The operation at a path; undefined: there is none. */
export function peerOperationAt(path: string | undefined): OperationContract | undefined {
  return peerOperations.find((contract) => peerPath(contract) === path);
}
