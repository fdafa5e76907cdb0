import { open } from "node:fs/promises";
import { join } from "node:path";
import { kibibyte } from "../base/bytes.ts";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import type { Host } from "./host/host.ts";
import type { SecretSource } from "./config.ts";

/** Maximum bytes of a value: an RSA key in PEM takes 3 KiB. */
const maxBytes: number = 16 * kibibyte;

/**
 * The current value of a secret; a newline at the end of a file is not part of it.
 * @throws UNSUPPORTED if there is none, or one that cannot be in a variable; the error shows neither path nor value
 */
export async function readSecret(
  { name, from }: SecretSource,
  host: Pick<Host, "environment" | "homeDirectory">,
): Promise<string> {
  const value = from.kind === "env" ? (host.environment[from.variable] ?? "") : await readText(name, from.path, host);
  if (value === "") {
    throw withoutValue(name, from.kind === "env" ? "its environment variable is not set" : "its file is empty");
  }
  if (Buffer.byteLength(value) > maxBytes) throw withoutValue(name, `its value is longer than ${maxBytes} bytes`);
  if (value.includes("\0")) throw withoutValue(name, "its value holds a NUL character");
  return value;
}

async function readText(name: string, path: string, { homeDirectory }: Pick<Host, "homeDirectory">): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readStart(/^~(?=[\\/]|$)/.test(path) ? join(homeDirectory, path.slice(1)) : path);
  } catch (error) {
    // The cause is left out: it names the path.
    const code = errorCode(error) || "unknown reason";
    throw withoutValue(name, `its file cannot be read (${code})`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw withoutValue(name, "its file is not text in UTF-8");
  }
}

/** Just enough to see that a file is too long. */
async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  // Two more for a newline, which does not count, and one to detect the excess.
  const bytes = Buffer.alloc(maxBytes + 3);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length === bytes.length) return bytes;
  }
}

function withoutValue(name: string, reason: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The secret ${name} is not available: ${reason}.`, {
    suggestion: "The operator can fix it: see `secrets` in the configuration, and docs/secrets.md.",
    context: { field: "secrets", secret: name },
  });
}
