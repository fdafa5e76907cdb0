export { connect } from "./client/connect.ts";
export type { ConnectOptions } from "./client/connect-options.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export { ProgramError } from "./library/objects/execution.ts";
export type { Glovebox } from "./library/objects/glovebox.ts";
export type { OutputChunk } from "./library/objects/execution.ts";
