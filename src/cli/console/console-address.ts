import { randomBytes } from "node:crypto";
import { serverProof } from "../../base/http/server-proof.ts";
import { readConsoleAddress } from "../../config/server-address.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

const answerWithinMs = 10_000;

/**
 * The console's address, with the sign-in token after `#`, which browsers send to no server. The user's own token is
 * given only to a server that proves that it knows it: any user of this machine may listen on a port.
 * @throws NETWORK_ERROR if nothing answers; PERMISSION_DENIED if the server is not this user's
 */
export async function consoleAddress(signal: AbortSignal): Promise<string> {
  const { url, key, isOwnToken } = await readConsoleAddress();
  const page = new URL("/", url);
  const nonce = randomBytes(32).toString("hex");
  const proof = await askProof(new URL(`/console/proof/${nonce}`, page), signal);
  const signedIn = key === undefined ? page.href : `${page.href}#token=${encodeURIComponent(key)}`;
  if (!isOwnToken || key === undefined) return signedIn;
  // It asks for no token, so it is given none.
  if (proof === null) return page.href;
  const port = Number(page.port || (page.protocol === "https:" ? 443 : 80));
  if (proof !== serverProof(key, { nonce, port })) throw foreignServer(page.origin);
  return signedIn;
}

async function askProof(address: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await fetch(address, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]),
      redirect: "error",
    });
    const body = (await answer.json()) as { readonly proof?: unknown } | null;
    return answer.ok ? body?.proof : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new GloveboxError("NETWORK_ERROR", `No server answers at ${address.origin}.`, {
      suggestion: "Start one with `glovebox serve`, or name another by GLOVEBOX_URL.",
      cause: error,
    });
  }
}

function foreignServer(origin: string): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `What answers at ${origin} is no server that has your token.`, {
    suggestion: "See who listens there. For a server of another user or machine name an API key by GLOVEBOX_KEY.",
  });
}
