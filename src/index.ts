export { connect } from "./transfer/connect-here.ts";
export type { ConnectOptions } from "./client/connect-options.ts";
export { createGlovebox } from "./library/create-glovebox.ts";
export type { GloveboxOptions, Logger } from "./library/glovebox-options.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { WireError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export { ProgramError } from "./library/objects/execution.ts";
export type { Result } from "./library/objects/execution.ts";
export type { Glovebox } from "./library/objects/glovebox.ts";
export type { CallOptions, RunOptions, SandboxRunCall, TerminalCall } from "./library/objects/call-options.ts";
export type { Execution } from "./library/objects/execution.ts";
export type { OutputChunk } from "./library/objects/execution.ts";
export type { Preview, Previews } from "./library/objects/workloads.ts";
export type { Agents } from "./library/objects/workloads.ts";
export type { Tests } from "./library/objects/workloads.ts";
export type { Environment, Environments } from "./library/objects/environment.ts";
export type { Contexts, Session, Sessions } from "./library/objects/session.ts";
export type { Sandbox, Sandboxes } from "./library/objects/sandbox.ts";
export type { Files } from "./library/objects/files.ts";
export type { Process, Processes } from "./library/objects/processes.ts";
export type { ProcessChunk } from "./library/objects/processes.ts";
export type { LogOptions } from "./library/objects/follow-log.ts";
export type { Images, Mounts, PackageCache } from "./library/objects/machine.ts";
export type { OperationEvent, RefusedConnection } from "./operations/contract/wire-values.ts";
export type { Settings } from "./library/objects/generated/settings.ts";
export type {
  ExecuteOptions,
  TestsOptions,
  PreviewOptions,
  PreviewStatusOptions,
  AgentOptions,
  SessionOptions,
  SessionRunOptions,
  ContextOptions,
  EnvironmentOptions,
  CommandOptions,
  ProcessOptions,
  ProcessOutputOptions,
  StopProcessOptions,
  EditFileOptions,
  ReadFileOptions,
  ReadStreamOptions,
  ExecOptions,
  TerminalOptions,
  CopyLimits,
  ListSandboxesOptions,
  PruneSandboxesOptions,
  ListAlertsOptions,
  MetricsOptions,
  ReadLogsOptions,
  ListImagesOptions,
  PullImagesOptions,
  BuildImagesOptions,
  CheckMountOptions,
  PrunePackagesOptions,
  Limits,
  ContextFile,
} from "./library/objects/generated/options.ts";
export type {
  ExecuteResult,
  TestsResult,
  AgentResult,
  SessionRunResult,
  CommandResult,
  ExecResult,
  TerminalResult,
  SessionDetails,
  SessionRow,
  ContextRow,
  EnvironmentDetails,
  EnvironmentRow,
  PreviewDetails,
  StoppedPreview,
  StartedProcess,
  ProcessDetails,
  WrittenInput,
  StoppedProcess,
  FileList,
  FileContent,
  EditedFile,
  WrittenFile,
  CopyResult,
  SandboxRow,
  Metrics,
  LogEntry,
  ImageRow,
  MountList,
  MountAnswer,
  PackageList,
  PrunedPackages,
  DoctorReport,
  RunError,
  Artifact,
  Alert,
} from "./library/objects/generated/results.ts";
