import { runCodeHandler } from "./session/run-code-handler.ts";
import { endSessionHandler } from "./session/end-session-handler.ts";
import { editFileHandler, listFilesHandler, readFileHandler, writeFileHandler } from "./files/files-handler.ts";
import { getSessionHandler, listSessionsHandler, openSessionHandler } from "./session/sessions-handler.ts";
import { executeCodeHandler } from "./execute/execute-handler.ts";
import { runAgentHandler } from "./agents/run-agent-handler.ts";
import { createEnvironmentHandler } from "./environments/create-environment-handler.ts";
import { runCommandHandler } from "./environments/run-command-handler.ts";
import { listEnvironmentsHandler, destroyEnvironmentHandler } from "./environments/environments-handler.ts";
import { startProcessHandler } from "./processes/start-process-handler.ts";
import { listProcessesHandler, writeStdinHandler, stopProcessHandler } from "./processes/processes-handler.ts";
import { listImagesHandler, pullImagesHandler, buildImagesHandler } from "./images/images-handler.ts";
import { listPackagesHandler, prunePackagesHandler } from "./packages/packages-handler.ts";
import { listSandboxesHandler, removeSandboxesHandler, pruneSandboxesHandler } from "./sandboxes/sandboxes-handler.ts";
import { execInSandboxHandler } from "./sandboxes/programs/exec-handler.ts";
import { openTerminalHandler } from "./sandboxes/programs/terminal-handler.ts";
import { findSandboxPlaceHandler } from "./sandboxes/sandbox-place-handler.ts";
import { packFilesHandler, unpackFilesHandler } from "./sandboxes/copies/archive-handler.ts";
import { copyIntoSandboxHandler, copyOutOfSandboxHandler } from "./sandboxes/copies/copy-handler.ts";
import { readLogsHandler } from "./logs/read-logs-handler.ts";
import { getMetricsHandler } from "./metrics/get-metrics-handler.ts";
import { listAlertsHandler } from "./metrics/list-alerts-handler.ts";
import { sandboxStatsHandler } from "./metrics/sandbox-stats-handler.ts";
import { checkMountHandler, listMountsHandler } from "./mounts/mounts-handler.ts";
import { doctorHandler } from "./doctor/doctor-handler.ts";
import { startPreviewHandler } from "./previews/start-preview-handler.ts";
import { previewStatusHandler, stopPreviewHandler } from "./previews/previews-handler.ts";
import { readTestReportHandler } from "./tests/read-test-report-handler.ts";
import { runTestsHandler } from "./tests/run-tests-handler.ts";
import { runInProjectHandler } from "./environments/run-in-project-handler.ts";
import { exportPreparedHandler, importPreparedHandler } from "./prepared/prepared-handler.ts";
import { proveHandler } from "./proof/prove-handler.ts";
import { wrapServerHandler } from "./wrap/wrap-server-handler.ts";
import type { Handler } from "./handling/handler.ts";

/** The handler of each operation of the table; only the platform knows them. */
export const handlers: readonly Handler[] = [
  runCodeHandler,
  openSessionHandler,
  listSessionsHandler,
  getSessionHandler,
  endSessionHandler,
  listFilesHandler,
  readFileHandler,
  writeFileHandler,
  editFileHandler,
  executeCodeHandler,
  wrapServerHandler,
  runInProjectHandler,
  runTestsHandler,
  readTestReportHandler,
  startPreviewHandler,
  previewStatusHandler,
  stopPreviewHandler,
  runAgentHandler,
  createEnvironmentHandler,
  runCommandHandler,
  listEnvironmentsHandler,
  destroyEnvironmentHandler,
  startProcessHandler,
  listProcessesHandler,
  writeStdinHandler,
  stopProcessHandler,
  findSandboxPlaceHandler,
  readLogsHandler,
  getMetricsHandler,
  listAlertsHandler,
  sandboxStatsHandler,
  listImagesHandler,
  pullImagesHandler,
  buildImagesHandler,
  exportPreparedHandler,
  importPreparedHandler,
  listPackagesHandler,
  prunePackagesHandler,
  listSandboxesHandler,
  removeSandboxesHandler,
  pruneSandboxesHandler,
  execInSandboxHandler,
  openTerminalHandler,
  copyIntoSandboxHandler,
  copyOutOfSandboxHandler,
  packFilesHandler,
  unpackFilesHandler,
  checkMountHandler,
  listMountsHandler,
  doctorHandler,
  proveHandler,
];
