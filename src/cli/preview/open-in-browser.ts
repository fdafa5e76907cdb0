import { spawn } from "node:child_process";
import { browserCommand } from "../browser-command.ts";

/** Opens an address in the user's browser; resolves to false if nothing here can. */
export function openInBrowser(url: string, platform: NodeJS.Platform): Promise<boolean> {
  const child = spawn(...browserCommand(url, platform), { cwd: "/", stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
