import { openHttpCaller } from "../client/http-caller.ts";
import type { ConnectOptions } from "../client/connect-options.ts";
import { readHost } from "../config/host/host.ts";
import { Glovebox } from "../library/objects/glovebox.ts";
import { withCopies } from "./copy-with-server.ts";

/**
 * Glovebox on a server (`glovebox serve`), with the objects of the library. Nothing is sent before the first call;
 * `close()` aborts the calls in flight and leaves the server's sessions and environments as they are.
 *
 * As `connect` of `glovebox/client`, which browsers can load, and with `copyIn` and `copyOut` between the server's
 * sandboxes and this machine. What has no route (images, mounts, `doctor`) throws UNSUPPORTED; a connection that fails
 * or breaks throws NETWORK_ERROR.
 * @throws INVALID_REQUEST for an invalid URL
 */
export function connect({ throwOnError, ...options }: ConnectOptions): Glovebox {
  return new Glovebox({ ...withCopies(openHttpCaller(options), readHost()), throwOnError });
}
