import { fileURLToPath } from "node:url";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** What starts a program. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface OwnCommandOptions {
  readonly platform: NodeJS.Platform;
  /** The running Node. */
  readonly executable: string;
  /** Whether it must also hold on other people's machines: then it names no path of an installed package. */
  readonly portable: boolean;
  /** Version of this package. */
  readonly version: string;
}

/** Folders in which npx, pnpm dlx, yarn dlx and bunx keep what they fetch for one run. */
const passing = /[\\/](?:_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;

/**
 * What other programs start Glovebox with, from whatever folder: this checkout or installed package by its absolute path. For
 * others it is this version of the package that their project has installed; nothing is ever fetched by its name.
 * @param here URL of this module; given by tests only
 * @throws INVALID_REQUEST when the package was fetched for this one run
 */
export function ownCommand(
  { platform, executable, portable, version }: OwnCommandOptions,
  here: string = import.meta.url,
): OwnCommand {
  const isCheckout = here.endsWith(".ts");
  const fromHere = (relative: string): string =>
    fileURLToPath(new URL(relative, here), { windows: platform === "win32" });
  if (isCheckout && platform !== "win32") return { command: fromHere("../../../bin/glovebox"), args: [] };
  if (isCheckout) return { command: executable, args: [fromHere("../../cli/main.ts")] };
  if (!portable) {
    if (passing.test(fileURLToPath(here, { windows: platform === "win32" }))) throw fetchedForOneRun();
    return { command: executable, args: [fromHere("../../cli/main.js")] };
  }
  const args = ["--no", `glovebox@${version}`];
  // `npx` is a script on Windows, which only a shell starts.
  return platform === "win32" ? { command: "cmd", args: ["/c", "npx", ...args] } : { command: "npx", args };
}

function fetchedForOneRun(): GloveboxError {
  return new GloveboxError(
    "INVALID_REQUEST",
    "This Glovebox was downloaded for a single run and will be gone when a client starts it.",
    {
      suggestion: "Install it first (npm install --global ./glovebox-VERSION.tgz), and run this again.",
    },
  );
}
