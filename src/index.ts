export { createGlovebox } from "./library/glovebox.ts";
export type { CallOptions, Glovebox, GloveboxOptions } from "./library/glovebox.ts";
export type { Alert } from "./platform/platform.ts";
export type { OperationEvent } from "./operations/contract/operation-call.ts";
export type { DoctorChoice, DoctorEngine, DoctorResponse } from "./operations/doctor/doctor-contract.ts";
export type { ExecuteRequest, ExecuteResponse } from "./operations/execute/execute-contract.ts";
export type { SandboxCalls } from "./library/sandbox-calls.ts";
export type { CopyInRequest, CopyOutRequest, CopyResponse } from "./operations/sandboxes/copy-contract.ts";
export type {
  ExecRequest,
  ExecResponse,
  TerminalRequest,
  TerminalResponse,
} from "./operations/sandboxes/exec-contract.ts";
export type { EnvironmentCalls } from "./library/environment-calls.ts";
export type { ProcessCalls } from "./library/process-calls.ts";
export type {
  ListFilesRequest,
  ListFilesResponse,
  ReadFileRequest,
  ReadFileResponse,
  WriteFileRequest,
  WriteFileResponse,
} from "./operations/session/session-files-contract.ts";
export type { EndSessionRequest, EndSessionResponse } from "./operations/session/end-session-contract.ts";
export type { RunCodeRequest, RunCodeResponse } from "./operations/session/run-code-contract.ts";
export type { ImageRow, ImagesRequest, PullImagesRequest } from "./operations/images/images-contract.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { WireError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export type { CheckMountRequest, CheckMountResponse, ListMountsResponse } from "./operations/mounts/mounts-contract.ts";
export type {
  ListSandboxesRequest,
  PruneSandboxesRequest,
  RemoveSandboxesRequest,
  SandboxRow,
} from "./operations/sandboxes/sandboxes-contract.ts";
export type {
  ListPackagesResponse,
  PackageSetRow,
  PrunePackagesRequest,
  PrunePackagesResponse,
} from "./operations/packages/packages-contract.ts";
