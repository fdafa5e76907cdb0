import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { browserCommand } from "../browser-command.ts";

/** How long a browser may take to start and read the page. */
const readWithinMs = 15_000;

/**
 * Opens an address in the user's browser by way of a private file: program arguments can be read by every user of the
 * machine. The file is gone when it resolves. @throws UNSUPPORTED if no browser can be started
 */
export async function openInBrowser(
  address: string,
  { platform, signal }: { readonly platform: NodeJS.Platform; readonly signal: AbortSignal },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-console-"));
  try {
    const file = join(folder, "console.html");
    await writeFile(file, redirection(address), { mode: 0o600, flag: "wx" });
    await start(file, platform);
    await sleep(readWithinMs, undefined, { signal }).catch(() => undefined);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(file: string, platform: NodeJS.Platform): Promise<void> {
  const [program, args] = browserCommand(file, platform);
  try {
    const child = spawn(program, args, { cwd: "/", stdio: "ignore" });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  } catch (error) {
    throw new GloveboxError("UNSUPPORTED", `No browser could be started: ${(error as Error).message}.`, {
      suggestion: "Open what `glovebox console --print` prints.",
      cause: error,
    });
  }
}

function redirection(address: string): string {
  const target = address.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${target}"><title>Glovebox</title><a href="${target}">Open the console</a>\n`;
}
