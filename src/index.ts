export { connect } from "./transfer/connect-here.ts";
export type { ConnectOptions } from "./client/connect.ts";
export { createGlovebox } from "./library/create-glovebox.ts";
export type { Alert, GloveboxOptions } from "./library/create-glovebox.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { WireError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export { ProgramError } from "./library/objects/forms/result.ts";
export type { Result } from "./library/objects/forms/result.ts";
export type { Glovebox } from "./library/objects/glovebox.ts";
export type { CallOptions, RunOptions } from "./library/objects/calls.ts";
export type { Camel } from "./library/objects/forms/camel.ts";
export type { Execution } from "./library/objects/execution.ts";
export type { OutputChunk } from "./library/objects/programs/output-reader.ts";
export type { Preview, PreviewDetails, Previews } from "./library/objects/previews.ts";
export type { Agents } from "./library/objects/agents.ts";
export type { Tests } from "./library/objects/tests.ts";
export type { Environment, Environments } from "./library/objects/environment.ts";
export type {
  CommandOptions,
  EnvironmentOptions,
  ExecuteOptions,
  PreviewOptions,
  TestsOptions,
  AgentOptions,
  ProcessOptions,
  SessionOptions,
  SessionRunOptions,
} from "./library/objects/options.ts";
export type { Session, Sessions } from "./library/objects/session.ts";
export type { Sandbox, Sandboxes, TerminalCall } from "./library/objects/sandbox.ts";
export type { Files } from "./library/objects/files.ts";
export type { Process, Processes } from "./library/objects/programs/processes.ts";
export type { ProcessChunk, ProcessDetails } from "./library/objects/programs/follow-process.ts";
export type { Images, Mounts, PackageCache } from "./library/objects/machine.ts";
export type { OperationEvent } from "./operations/contract/operation-call.ts";
