import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import { configDirectory } from "./host/host-paths.ts";
import { readHost, type Host } from "./host/host.ts";

/** 256 bits in base64url, and a newline. */
const form = /^[\w-]{43}\n?$/;
const maxBytes = 64;
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
/** Windows has neither. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

type TokenHost = Pick<Host, "environment" | "homeDirectory" | "uid">;

/** The file with this user's token, in the configuration folder, which no sandbox can access. */
export function accessTokenFile({ environment, homeDirectory }: Omit<TokenHost, "uid">): string {
  return join(configDirectory(environment, homeDirectory), "token");
}

/**
 * The token with which this user's programs authenticate to their servers on loopback, which other users share (SPEC
 * API2): created when first needed, and the same from then on.
 * @throws PERMISSION_DENIED if the file is not this user's own or is open to others, or contains no token
 */
export async function openAccessToken(host: TokenHost): Promise<string> {
  const file = accessTokenFile(host);
  const known = await readToken(file, host);
  if (known !== null) return known;
  await mkdir(configDirectory(host.environment, host.homeDirectory), { recursive: true, mode: 0o700 });
  await makeToken(file);
  const made = await readToken(file, host);
  if (made === null) throw unusable(file, "it vanished right after it was made");
  return made;
}

/** The same without making one; null where there is none, or none that a server would accept. */
export async function knownAccessToken(host: TokenHost): Promise<string | null> {
  try {
    return await readToken(accessTokenFile(host), host);
  } catch {
    return null;
  }
}

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

/** Atomic: if several processes try at the same time, one creates it and none sees half of it. */
async function makeToken(file: string): Promise<void> {
  const fresh = `${file}.${randomBytes(9).toString("hex")}`;
  try {
    await using handle = await open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    // Regardless of the umask.
    await handle.chmod(0o600);
    await handle.writeFile(`${randomBytes(32).toString("base64url")}\n`);
    await handle.sync();
    await link(fresh, file);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw unusable(file, `it cannot be made (${errorCode(error)})`, error);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Null when there is none. */
async function readToken(file: string, { uid }: TokenHost): Promise<string | null> {
  let handle: FileHandle;
  try {
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw unusable(file, `it cannot be read (${errorCode(error)})`, error);
  }
  await using opened = handle;
  const stat = await opened.stat();
  if (!stat.isFile()) throw unusable(file, "it is not a file");
  if (uid !== null && stat.uid !== uid) throw unusable(file, "it belongs to another user");
  if (uid !== null && (stat.mode & 0o077) !== 0) throw unusable(file, "other users may read or write it");
  const bytes = Buffer.alloc(maxBytes);
  const { bytesRead } = await opened.read(bytes, 0, maxBytes, 0);
  const text = bytes.toString("latin1", 0, bytesRead);
  if (!form.test(text)) throw unusable(file, "it holds no token");
  return text.trimEnd();
}

/** For the operator only, like every error at start-up: it names the path. */
function unusable(file: string, reason: string, cause?: unknown): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `The token file ${file} cannot be used: ${reason}.`, {
    suggestion: "Remove it: the next start creates a new one, which programs that used the old one then need.",
    cause,
  });
}
