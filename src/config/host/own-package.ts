import { fileURLToPath } from "node:url";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Kit } from "../../base/kit.ts";
import { readFileSync } from "node:fs";

/** Version of this package, from its manifest: the same place for sources and for the built package. */
export function readPackageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return (manifest as { version: string }).version;
}

/** What starts a program. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface OwnCommandOptions extends Pick<Kit, "platform" | "executable"> {
  /** Whether it must also work on other people's machines: then it names no path of an installed package. */
  readonly portable: boolean;
  /** Version of this package. */
  readonly version: string;
}

/** Folders in which npx, pnpm dlx, yarn dlx and bunx keep what they fetch for a single run. */
const passing = /[\\/](?:_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;

/**
 * The command with which other programs start Glovebox, from any folder: this checkout or installed package by its
 * absolute path. On other machines it is this version of the package, installed in their project; nothing is ever
 * fetched by name.
 * @param here URL of this module; passed only by tests
 * @throws INVALID_REQUEST if the package was fetched for this run only
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
  // On Windows `npx` is a script, which only a shell can start.
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
