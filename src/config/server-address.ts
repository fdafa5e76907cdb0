import { GloveboxError } from "../errors/glovebox-error.ts";
import { readHost } from "./host/host.ts";
import { openAccessToken } from "./access-token.ts";

/** The server that commands use instead of doing the work in their own process. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string | undefined;
  /** Whether its name is one of this machine's own, so that it most likely has the same files. */
  readonly isLoopback: boolean;
}

/** Names and addresses of this machine's own. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * `GLOVEBOX_URL` and `GLOVEBOX_KEY`; null if no server is named. For a server on this machine the key may be left out:
 * the user's token is used, which is sent to no other machine.
 * @throws INVALID_REQUEST for an invalid URL
 */
export async function readServerAddress(): Promise<ServerAddress | null> {
  const { GLOVEBOX_URL: url = "" } = readHost().environment;
  return url === "" ? null : addressOf(url);
}

/** The same for the server whose console is opened; if none is named, the one on this machine. */
export async function readConsoleAddress(): Promise<ServerAddress & { readonly isOwnToken: boolean }> {
  const { GLOVEBOX_URL: url = "", GLOVEBOX_KEY: key = "" } = readHost().environment;
  const address = await addressOf(url === "" ? defaultUrl : url);
  return { ...address, isOwnToken: key === "" && address.key !== undefined };
}

/** Where `glovebox serve` listens unless it is told otherwise. */
const defaultUrl = "http://127.0.0.1:8420";

async function addressOf(url: string): Promise<ServerAddress> {
  const host = readHost();
  const { GLOVEBOX_KEY: key = "" } = host.environment;
  if (!URL.canParse(url)) {
    throw new GloveboxError("INVALID_REQUEST", "GLOVEBOX_URL: expected the URL of a server.", {
      suggestion: "Set GLOVEBOX_URL to something like http://127.0.0.1:8420, or unset it to work without a server.",
      context: { field: "GLOVEBOX_URL" },
    });
  }
  const isLoopback = loopback.test(new URL(url).hostname);
  if (key !== "") return { url, key, isLoopback };
  return { url, key: isLoopback ? await openAccessToken(host) : undefined, isLoopback };
}
