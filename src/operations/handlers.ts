import type { HandlerTable, LoadHandler } from "./handler.ts";
import type { AgentNeeds } from "./agent-handler.ts";
import type { DoctorNeeds } from "./doctor-handler.ts";
import type { EnvironmentNeeds } from "./environments-handler.ts";
import type { ExecuteNeeds } from "./execute-handler.ts";
import type { FileNeeds } from "./files-handler.ts";
import type { ImageNeeds } from "./images-handler.ts";
import type { LogNeeds } from "./logs-handler.ts";
import type { MetricsNeeds } from "./metrics-handler.ts";
import type { PackageNeeds } from "./packages-handler.ts";
import type { PreviewNeeds } from "./previews-handler.ts";
import type { ProcessNeeds } from "./processes-handler.ts";
import type { ProjectNeeds } from "./project-handler.ts";
import type { ProveNeeds } from "./prove-handler.ts";
import type { SandboxPlaceNeeds } from "./sandboxes-handler.ts";
import type { TestNeeds } from "./tests-handler.ts";

/** What the handlers need, all together: the platform makes it, and each handler sees what it names. */
export type HandlerNeeds = AgentNeeds &
  DoctorNeeds &
  EnvironmentNeeds &
  ExecuteNeeds &
  FileNeeds &
  ImageNeeds &
  LogNeeds &
  MetricsNeeds &
  PackageNeeds &
  PreviewNeeds &
  ProcessNeeds &
  ProjectNeeds &
  ProveNeeds &
  SandboxPlaceNeeds &
  TestNeeds;

/**
 * What loads the handler of each operation of the table, by its name: a process loads those that it is asked for. Only the
 * platform knows them.
 */
export const handlers: HandlerTable<HandlerNeeds> = new Map<string, LoadHandler<HandlerNeeds>>([
  ["run_code", async () => (await import("./session-handler.ts")).runCodeHandler],
  ["open_session", async () => (await import("./session-handler.ts")).openSessionHandler],
  ["list_sessions", async () => (await import("./session-handler.ts")).listSessionsHandler],
  ["get_session", async () => (await import("./session-handler.ts")).getSessionHandler],
  ["end_session", async () => (await import("./session-handler.ts")).endSessionHandler],
  ["create_context", async () => (await import("./session-handler.ts")).createContextHandler],
  ["list_contexts", async () => (await import("./session-handler.ts")).listContextsHandler],
  ["interrupt_context", async () => (await import("./session-handler.ts")).interruptContextHandler],
  ["restart_context", async () => (await import("./session-handler.ts")).restartContextHandler],
  ["end_context", async () => (await import("./session-handler.ts")).endContextHandler],
  ["list_files", async () => (await import("./files-handler.ts")).listFilesHandler],
  ["read_file", async () => (await import("./files-handler.ts")).readFileHandler],
  ["write_file", async () => (await import("./files-handler.ts")).writeFileHandler],
  ["edit_file", async () => (await import("./files-handler.ts")).editFileHandler],
  ["download_file", async () => (await import("./files-handler.ts")).downloadFileHandler],
  ["upload_file", async () => (await import("./files-handler.ts")).uploadFileHandler],
  ["execute_code", async () => (await import("./execute-handler.ts")).executeCodeHandler],
  ["wrap_server", async () => (await import("./wrap-server-handler.ts")).wrapServerHandler],
  ["run_in_project", async () => (await import("./project-handler.ts")).runInProjectHandler],
  ["run_tests", async () => (await import("./tests-handler.ts")).runTestsHandler],
  ["read_test_report", async () => (await import("./tests-handler.ts")).readTestReportHandler],
  ["start_preview", async () => (await import("./previews-handler.ts")).startPreviewHandler],
  ["preview_status", async () => (await import("./previews-handler.ts")).previewStatusHandler],
  ["stop_preview", async () => (await import("./previews-handler.ts")).stopPreviewHandler],
  ["run_agent", async () => (await import("./agent-handler.ts")).runAgentHandler],
  ["create_environment", async () => (await import("./environments-handler.ts")).createEnvironmentHandler],
  ["run_command", async () => (await import("./environments-handler.ts")).runCommandHandler],
  ["list_environments", async () => (await import("./environments-handler.ts")).listEnvironmentsHandler],
  ["destroy_environment", async () => (await import("./environments-handler.ts")).destroyEnvironmentHandler],
  ["start_process", async () => (await import("./processes-handler.ts")).startProcessHandler],
  ["list_processes", async () => (await import("./processes-handler.ts")).listProcessesHandler],
  ["write_stdin", async () => (await import("./processes-handler.ts")).writeStdinHandler],
  ["stop_process", async () => (await import("./processes-handler.ts")).stopProcessHandler],
  ["find_sandbox_place", async () => (await import("./sandboxes-handler.ts")).findSandboxPlaceHandler],
  ["read_logs", async () => (await import("./logs-handler.ts")).readLogsHandler],
  ["get_metrics", async () => (await import("./metrics-handler.ts")).getMetricsHandler],
  ["list_alerts", async () => (await import("./metrics-handler.ts")).listAlertsHandler],
  ["sandbox_stats", async () => (await import("./metrics-handler.ts")).sandboxStatsHandler],
  ["list_images", async () => (await import("./images-handler.ts")).listImagesHandler],
  ["pull_images", async () => (await import("./images-handler.ts")).pullImagesHandler],
  ["build_images", async () => (await import("./images-handler.ts")).buildImagesHandler],
  ["export_prepared", async () => (await import("./images-handler.ts")).exportPreparedHandler],
  ["import_prepared", async () => (await import("./images-handler.ts")).importPreparedHandler],
  ["list_packages", async () => (await import("./packages-handler.ts")).listPackagesHandler],
  ["prune_packages", async () => (await import("./packages-handler.ts")).prunePackagesHandler],
  ["list_sandboxes", async () => (await import("./sandboxes-handler.ts")).listSandboxesHandler],
  ["remove_sandboxes", async () => (await import("./sandboxes-handler.ts")).removeSandboxesHandler],
  ["prune_sandboxes", async () => (await import("./sandboxes-handler.ts")).pruneSandboxesHandler],
  ["exec_in_sandbox", async () => (await import("./live-sandbox-handler.ts")).execInSandboxHandler],
  ["open_terminal", async () => (await import("./live-sandbox-handler.ts")).openTerminalHandler],
  ["copy_into_sandbox", async () => (await import("./live-sandbox-handler.ts")).copyIntoSandboxHandler],
  ["copy_out_of_sandbox", async () => (await import("./live-sandbox-handler.ts")).copyOutOfSandboxHandler],
  ["pack_files", async () => (await import("./live-sandbox-handler.ts")).packFilesHandler],
  ["unpack_files", async () => (await import("./live-sandbox-handler.ts")).unpackFilesHandler],
  ["check_mount", async () => (await import("./mounts-handler.ts")).checkMountHandler],
  ["list_mounts", async () => (await import("./mounts-handler.ts")).listMountsHandler],
  ["doctor", async () => (await import("./doctor-handler.ts")).doctorHandler],
  ["prove", async () => (await import("./prove-handler.ts")).proveHandler],
]);
