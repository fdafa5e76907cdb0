import {
  runCodeContract,
  endSessionContract,
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
  getSessionContract,
  listSessionsContract,
  openSessionContract,
} from "./session-contract.ts";
import {
  downloadFileContract,
  uploadFileContract,
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
} from "./files-contract.ts";
import { executeCodeContract } from "./execute-contract.ts";
import { runTestsContract, readTestReportContract } from "./tests-contract.ts";
import { startPreviewContract, previewStatusContract, stopPreviewContract } from "./previews-contract.ts";
import { runAgentContract } from "./agent-contract.ts";
import {
  createEnvironmentContract,
  runCommandContract,
  listEnvironmentsContract,
  destroyEnvironmentContract,
} from "./environments-contract.ts";
import {
  startProcessContract,
  listProcessesContract,
  writeStdinContract,
  stopProcessContract,
} from "./processes-contract.ts";
import {
  listImagesContract,
  pullImagesContract,
  buildImagesContract,
  exportPreparedContract,
  importPreparedContract,
} from "./images-contract.ts";
import { listPackagesContract, prunePackagesContract } from "./packages-contract.ts";
import {
  listSandboxesContract,
  removeSandboxesContract,
  pruneSandboxesContract,
  findSandboxPlaceContract,
} from "./sandboxes-contract.ts";
import {
  execInSandboxContract,
  openTerminalContract,
  packFilesContract,
  unpackFilesContract,
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
} from "./live-sandbox-contract.ts";
import { readLogsContract } from "./logs-contract.ts";
import { getMetricsContract, listAlertsContract, sandboxStatsContract } from "./metrics-contract.ts";
import { checkMountContract, listMountsContract } from "./mounts-contract.ts";
import { doctorContract } from "./doctor-contract.ts";
import { runInProjectContract } from "./project-contract.ts";
import { proveContract } from "./prove-contract.ts";
import { wrapServerContract } from "./wrap-server-contract.ts";
import type { OperationContract } from "./contract/operation-contract.ts";

/** All operations, in the order in which they are listed. */
export const operationTable: readonly OperationContract[] = [
  runCodeContract,
  openSessionContract,
  listSessionsContract,
  getSessionContract,
  endSessionContract,
  createContextContract,
  listContextsContract,
  interruptContextContract,
  restartContextContract,
  endContextContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
  editFileContract,
  downloadFileContract,
  uploadFileContract,
  executeCodeContract,
  wrapServerContract,
  runInProjectContract,
  runTestsContract,
  readTestReportContract,
  startPreviewContract,
  previewStatusContract,
  stopPreviewContract,
  runAgentContract,
  createEnvironmentContract,
  runCommandContract,
  listEnvironmentsContract,
  destroyEnvironmentContract,
  startProcessContract,
  listProcessesContract,
  writeStdinContract,
  stopProcessContract,
  findSandboxPlaceContract,
  readLogsContract,
  getMetricsContract,
  listAlertsContract,
  sandboxStatsContract,
  listImagesContract,
  pullImagesContract,
  buildImagesContract,
  exportPreparedContract,
  importPreparedContract,
  listPackagesContract,
  prunePackagesContract,
  listSandboxesContract,
  removeSandboxesContract,
  pruneSandboxesContract,
  execInSandboxContract,
  openTerminalContract,
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
  packFilesContract,
  unpackFilesContract,
  checkMountContract,
  listMountsContract,
  doctorContract,
  proveContract,
];
