import { fileURLToPath } from "node:url";

/**
 * What other programs start Glovebox with: the published package by its name, or this checkout by its absolute path
 * when it runs from one. `npx` is a script on Windows, which only a shell starts.
 */
export function ownCommand(
  platform: NodeJS.Platform,
  executable: string,
): { readonly command: string; readonly args: readonly string[] } {
  const isCheckout = import.meta.url.endsWith(".ts");
  const fromHere = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  if (platform === "win32") {
    return isCheckout
      ? { command: executable, args: [fromHere("../cli/main.ts")] }
      : { command: "cmd", args: ["/c", "npx", "-y", "glovebox"] };
  }
  return isCheckout
    ? { command: fromHere("../../bin/glovebox"), args: [] }
    : { command: "npx", args: ["-y", "glovebox"] };
}
