import { GloveboxError } from "../errors/glovebox-error.ts";
import { isLoopback } from "../base/http/request-head.ts";
import type { Authenticate } from "./caller.ts";
import { authenticateLocalUser } from "./local-token.ts";

/** Prefix of all API keys. */
const keyPrefix = "gbx_";

export interface AuthenticationOptions {
  /** Where the server listens. */
  readonly host: string;
  /** The user's own token, for loopback; null: none is required. */
  readonly token: string | null;
  /** API keys; null: there are none. */
  readonly keys: Authenticate | null;
}

/**
 * Decides whose requests are accepted: on loopback those with the user's token or an API key, beyond it only those with
 * a key.
 * @throws POLICY_DENIED beyond loopback without keys, where everyone on the network could run code (SPEC API2)
 */
export function decideAuthentication({ host, token, keys }: AuthenticationOptions): Authenticate {
  const isOwnMachine = isLoopback(host);
  if (!isOwnMachine && keys === null) {
    throw new GloveboxError("POLICY_DENIED", `Without API keys Glovebox only listens on loopback, not on ${host}.`, {
      suggestion:
        "Create a key with `glovebox keys add NAME`, or serve on 127.0.0.1 and reach it from other machines through a tunnel such as ssh -L.",
      context: { host },
    });
  }
  const local: Authenticate = isOwnMachine ? authenticateLocalUser(token) : () => null;
  return async (bearer) => {
    const caller = (await keys?.(bearer)) ?? null;
    // An invalid key is refused even if no token is required.
    return caller === null && !bearer.startsWith(keyPrefix) ? local(bearer) : caller;
  };
}
