import { fileURLToPath } from "node:url";

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
}

/** Folders in which npx, pnpm dlx, yarn dlx and bunx keep what they fetch for one run. */
const passing = /[\\/](?:_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;

/**
 * What other programs start Glovebox with, from whatever folder: this checkout or installed package by its absolute path;
 * the published package by its name where nothing is installed for long.
 * @param here URL of this module; given by tests only
 */
export function ownCommand(
  { platform, executable, portable }: OwnCommandOptions,
  here: string = import.meta.url,
): OwnCommand {
  const isCheckout = here.endsWith(".ts");
  const fromHere = (relative: string): string =>
    fileURLToPath(new URL(relative, here), { windows: platform === "win32" });
  if (isCheckout && platform !== "win32") return { command: fromHere("../../../bin/glovebox"), args: [] };
  if (isCheckout) return { command: executable, args: [fromHere("../../cli/main.ts")] };
  if (!portable && !passing.test(fileURLToPath(here, { windows: platform === "win32" }))) {
    return { command: executable, args: [fromHere("../../cli/main.js")] };
  }
  // `npx` is a script on Windows, which only a shell starts.
  return platform === "win32"
    ? { command: "cmd", args: ["/c", "npx", "-y", "glovebox"] }
    : { command: "npx", args: ["-y", "glovebox"] };
}
