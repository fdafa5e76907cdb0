import { GloveboxError } from "../errors/glovebox-error.ts";
import { readHost } from "./host/host.ts";
import { openAccessToken } from "./secrets/access-token.ts";

/** The server that commands talk to, instead of doing the work in their own process. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string | undefined;
}

/** Names and addresses of this machine's own. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * `GLOVEBOX_URL` and `GLOVEBOX_KEY`; null when no server is named. On this machine the key may be left out: it is the user's
 * token, which goes to no other machine.
 * @throws INVALID_REQUEST for a URL that is none
 */
export async function readServerAddress(): Promise<ServerAddress | null> {
  const host = readHost();
  const { GLOVEBOX_URL: url = "", GLOVEBOX_KEY: key = "" } = host.environment;
  if (url === "") return null;
  if (!URL.canParse(url)) {
    throw new GloveboxError("INVALID_REQUEST", "GLOVEBOX_URL: expected the URL of a server.", {
      suggestion: "Set GLOVEBOX_URL to something like http://127.0.0.1:8420, or unset it to do without a server.",
      context: { field: "GLOVEBOX_URL" },
    });
  }
  if (key !== "") return { url, key };
  return { url, key: loopback.test(new URL(url).hostname) ? await openAccessToken(host) : undefined };
}
