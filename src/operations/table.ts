import { createEnvironmentOperation } from "./environments/create-environment.ts";
import { destroyEnvironmentOperation } from "./environments/destroy-environment.ts";
import { listEnvironmentsOperation } from "./environments/list-environments.ts";
import { runCommandOperation } from "./environments/run-command.ts";
import {
  createEnvironmentTool,
  destroyEnvironmentTool,
  listEnvironmentsTool,
  runCommandTool,
} from "./environments/tools.ts";
import { executeOperation } from "./execute/run.ts";
import { executeTool } from "./execute/tool.ts";
import { endSessionOperation } from "./session/end-session.ts";
import { runCodeOperation } from "./session/run-code.ts";
import { listFilesOperation, readFileOperation, writeFileOperation } from "./session/files.ts";
import { endSessionTool, listFilesTool, readFileTool, runCodeTool, writeFileTool } from "./session/tool.ts";
import { operationRow, type OperationRow } from "./operation-row.ts";
import { listProcessesOperation, stopProcessOperation, writeStdinOperation } from "./processes/run.ts";
import { startProcessOperation } from "./processes/start-process.ts";
import { listProcessesTool, startProcessTool, stopProcessTool, writeStdinTool } from "./processes/tools.ts";

/**
 * Everything that a caller can ask for at a door, one row an operation, in the order in which it is listed.
 *
 * Operations that look beyond the caller's own work (every principal's sandboxes, the deployment's mounts and
 * configuration) are the operator's: the library and the command line call them directly.
 */
export const operationTable: readonly OperationRow[] = [
  operationRow(runCodeOperation, runCodeTool),
  operationRow(endSessionOperation, endSessionTool),
  operationRow(listFilesOperation, listFilesTool),
  operationRow(readFileOperation, readFileTool),
  operationRow(writeFileOperation, writeFileTool),
  operationRow(executeOperation, executeTool),
  operationRow(createEnvironmentOperation, createEnvironmentTool),
  operationRow(runCommandOperation, runCommandTool),
  operationRow(listEnvironmentsOperation, listEnvironmentsTool),
  operationRow(destroyEnvironmentOperation, destroyEnvironmentTool),
  operationRow(startProcessOperation, startProcessTool),
  operationRow(listProcessesOperation, listProcessesTool),
  operationRow(writeStdinOperation, writeStdinTool),
  operationRow(stopProcessOperation, stopProcessTool),
];
