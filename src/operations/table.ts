import { runCodeContract } from "./session/run-code-contract.ts";
import { endSessionContract } from "./session/end-session-contract.ts";
import { downloadFileContract, uploadFileContract } from "./bytes-contract.ts";
import { editFileContract, listFilesContract, readFileContract, writeFileContract } from "./files-contract.ts";
import {
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
} from "./session/contexts-contract.ts";
import { getSessionContract, listSessionsContract, openSessionContract } from "./session/sessions-contract.ts";
import { executeCodeContract } from "./execute-contract.ts";
import { runTestsContract } from "./run-tests-contract.ts";
import { readTestReportContract } from "./read-test-report-contract.ts";
import { startPreviewContract } from "./previews/start-preview-contract.ts";
import { previewStatusContract, stopPreviewContract } from "./previews/previews-contract.ts";
import { runAgentContract } from "./run-agent-contract.ts";
import { createEnvironmentContract } from "./environments/create-environment-contract.ts";
import { runCommandContract } from "./environments/run-command-contract.ts";
import { listEnvironmentsContract, destroyEnvironmentContract } from "./environments/environments-contract.ts";
import { startProcessContract } from "./processes/start-process-contract.ts";
import { listProcessesContract, writeStdinContract, stopProcessContract } from "./processes/processes-contract.ts";
import { listImagesContract, pullImagesContract, buildImagesContract } from "./images-contract.ts";
import { listPackagesContract, prunePackagesContract } from "./packages-contract.ts";
import {
  listSandboxesContract,
  removeSandboxesContract,
  pruneSandboxesContract,
} from "./sandboxes/sandboxes-contract.ts";
import { execInSandboxContract, openTerminalContract } from "./sandboxes/exec-contract.ts";
import { findSandboxPlaceContract } from "./sandboxes/sandbox-place-contract.ts";
import { packFilesContract, unpackFilesContract } from "./sandboxes/archive-contract.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract } from "./sandboxes/copy-contract.ts";
import { readLogsContract } from "./read-logs-contract.ts";
import { getMetricsContract } from "./metrics/get-metrics-contract.ts";
import { listAlertsContract } from "./metrics/list-alerts-contract.ts";
import { sandboxStatsContract } from "./metrics/sandbox-stats-contract.ts";
import { checkMountContract, listMountsContract } from "./mounts-contract.ts";
import { doctorContract } from "./doctor/doctor-contract.ts";
import { runInProjectContract } from "./environments/run-in-project-contract.ts";
import { exportPreparedContract, importPreparedContract } from "./prepared-contract.ts";
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
