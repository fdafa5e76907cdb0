import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { randomBytes } from "node:crypto";
import { serverProof } from "../base/http/token-proof.ts";
import { readConsoleAddress } from "../config/server-access.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { browserCommand } from "./browser-command.ts";

/** `glovebox console`: a server's console in the browser, signed in. */
export function addConsoleCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("console")
    .option("--print", "print its address, which holds the token, instead of opening it")
    .addHelpText(
      "after",
      "\nThe server is that of GLOVEBOX_URL, else http://127.0.0.1:8420; GLOVEBOX_KEY is used where it is set, else your token.",
    )
    .action(async ({ print }: { readonly print?: true }) => {
      const address = await consoleAddress(io.signal);
      setExitCode(0);
      if (print === true) {
        io.stdout.write(`${address}\n`);
        return;
      }
      io.stderr.write(`glovebox: opening ${new URL("/", address).href} in your browser\n`);
      await openInBrowser(address, { platform: process.platform, signal: io.signal });
    });
}

const answerWithinMs = 10_000;

/**
 * The console's address, with the sign-in token after `#`, which browsers send to no server. The user's own token is
 * given only to a server that proves that it knows it: any user of this machine may listen on a port.
 * @throws NETWORK_ERROR if nothing answers; PERMISSION_DENIED if the server is not this user's
 */
async function consoleAddress(signal: AbortSignal): Promise<string> {
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

/** How long a browser may take to start and read the page. */
const readWithinMs = 15_000;

/**
 * Opens an address in the user's browser by way of a private file: program arguments can be read by every user of the
 * machine. The file is gone when it resolves. @throws UNSUPPORTED if no browser can be started
 */
async function openInBrowser(
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
