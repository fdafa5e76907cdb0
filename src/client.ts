import { Glovebox } from "./library/objects/glovebox.ts";
import type { ConnectOptions } from "./client/connect-options.ts";
import { openHttpCaller } from "./client/http-caller.ts";

export type { ConnectOptions } from "./client/connect-options.ts";
export { GloveboxError } from "./errors/glovebox-error.ts";
export type { ErrorType } from "./errors/catalogue.ts";
export { ProgramError } from "./library/objects/execution.ts";
export type { Glovebox } from "./library/objects/glovebox.ts";
export type { OutputChunk } from "./library/objects/execution.ts";

/**
 * Glovebox on a server (`glovebox serve`), with the objects of the library. Nothing is sent before the first call;
 * `close()` cancels the calls in flight and leaves the server's sessions and environments as they are.
 *
 * Works in Node, Bun and browsers. What has no route (images, mounts, `doctor`) throws UNSUPPORTED, and so do copies of
 * paths, which only `connect` of `glovebox` can do; a connection that fails or breaks throws NETWORK_ERROR.
 * @throws INVALID_REQUEST for an invalid URL
 */
export function connect({ throwOnError, ...options }: ConnectOptions): Glovebox {
  return new Glovebox({ ...openHttpCaller(options), throwOnError });
}
