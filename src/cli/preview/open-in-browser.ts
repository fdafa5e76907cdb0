import { spawn } from "node:child_process";

/** What opens an address on each platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the user's browser; resolves to false where nothing does that. */
export function openInBrowser(url: string, platform: NodeJS.Platform): Promise<boolean> {
  const [program = "xdg-open", ...argv] = openers[platform] ?? [];
  const child = spawn(program, [...argv, url], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
