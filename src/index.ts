export { createGlovebox } from "./library/glovebox.ts";
export type { CallOptions, Glovebox, GloveboxOptions } from "./library/glovebox.ts";
export type { Alert } from "./platform/platform.ts";
export type { OperationEvent } from "./operations/operation.ts";
export type { DoctorChoice, DoctorEngine, DoctorResponse } from "./operations/doctor/schema.ts";
export type { ExecuteRequest, ExecuteResponse } from "./operations/execute/schema.ts";
export type { VisitCalls } from "./library/visit-calls.ts";
export type {
  CopyInRequest,
  CopyOutRequest,
  CopyResponse,
  ExecRequest,
  ExecResponse,
  TerminalRequest,
  TerminalResponse,
} from "./operations/visits/schema.ts";
export type { EnvironmentCalls } from "./library/environment-calls.ts";
export type { ProcessCalls } from "./library/process-calls.ts";
export type {
  ListFilesRequest,
  ListFilesResponse,
  ReadFileRequest,
  ReadFileResponse,
  WriteFileRequest,
  WriteFileResponse,
} from "./operations/session/files-schema.ts";
export type {
  EndSessionRequest,
  EndSessionResponse,
  RunCodeRequest,
  RunCodeResponse,
} from "./operations/session/schema.ts";
export type { ImageRow, ImagesRequest, PullImagesRequest } from "./operations/images/schema.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { WireError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export type { CheckMountRequest, CheckMountResponse, ListMountsResponse } from "./operations/mounts/schema.ts";
export type {
  ListSandboxesRequest,
  PruneSandboxesRequest,
  RemoveSandboxesRequest,
  SandboxRow,
} from "./operations/sandboxes/schema.ts";
export type {
  ListPackagesResponse,
  PackageSetRow,
  PrunePackagesRequest,
  PrunePackagesResponse,
} from "./operations/packages/schema.ts";
