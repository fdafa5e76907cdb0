import { execFileSync } from "node:child_process";

/** Without what the machine's own configuration says. */
const environment = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
const settings = ["user.name=a", "user.email=a@example.test", "protocol.file.allow=always", "core.autocrlf=false"];

/** Runs git in a folder; its output. @throws if it fails */
export function git(folder: string, ...words: readonly string[]): string {
  const command = ["-C", folder, ...settings.flatMap((each) => ["-c", each]), ...words];
  return execFileSync("git", command, { env: environment, stdio: "pipe", maxBuffer: 64 * 1024 * 1024 }).toString();
}
