import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { readLogsContract } from "../operations/logs/read-logs-contract.ts";
import { sandboxStatsContract } from "../operations/metrics/sandbox-stats-contract.ts";
import { packFilesContract, unpackFilesContract } from "../operations/sandboxes/copies/archive-contract.ts";
import { execInSandboxContract, openTerminalContract } from "../operations/sandboxes/programs/exec-contract.ts";
import { removeSandboxesContract } from "../operations/sandboxes/sandboxes-contract.ts";

/** What a process of this user does for its other processes, with the sandboxes that it has itself. */
const peerOperations: readonly OperationContract[] = [
  execInSandboxContract,
  openTerminalContract,
  packFilesContract,
  unpackFilesContract,
  removeSandboxesContract,
  sandboxStatsContract,
  readLogsContract,
];

/** Both ends name it, because they may be of different versions of Glovebox. */
const version = 2;

/** Path of an operation's WebSocket, whose first message has the whole request. */
export function peerPath({ name }: OperationContract): string {
  return `/${version}/${name}`;
}

/** The operation of that path; undefined: there is none. */
export function peerOperationAt(path: string | undefined): OperationContract | undefined {
  return peerOperations.find((contract) => peerPath(contract) === path);
}
