import type { ConnectFailure, Unavailability } from "../docker-api/http/unavailability.ts";
import { defaultOrigin } from "./find-podman-endpoint.ts";

/** Whose service is looked for, which decides how it is started. */
export interface PodmanUser {
  readonly platform: NodeJS.Platform;
  readonly uid: number | null;
}

/** Why Podman's service cannot be reached and what to do about it on this platform. */
export function explainPodmanFailure(failure: ConnectFailure, user: PodmanUser): Unavailability {
  return { reason: reason(failure), howToStart: howToStart(failure, user) };
}

function reason({ code, origin, kind }: ConnectFailure): string {
  switch (code) {
    case "ENOENT":
      return `Podman's service is not running or not installed: ${origin} does not exist.`;
    case "ECONNREFUSED":
      return `Podman's service is not running: nothing answers on ${origin}.`;
    case "EACCES":
    case "EPERM":
      return `This user cannot use Podman's service: access to ${origin} is denied.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Podman's service cannot be reached: the host named by ${origin} is unknown.`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `Podman's service cannot be reached: the host named by ${origin} does not answer.`;
    default:
      if (code.startsWith("HTTP_")) return `What answers on ${origin} is not Podman 4 or newer.`;
      return kind === "socket"
        ? `Podman's service closed the connection on ${origin}.`
        : `Podman's service cannot be used: the connection to ${origin} broke off.`;
  }
}

function howToStart({ code, kind, origin }: ConnectFailure, user: PodmanUser): string {
  if (kind === "tcp" || code.startsWith("HTTP_")) {
    return `Check ${origin} and that Podman's service is started there (\`podman system service --time 0 ADDRESS\`).`;
  }
  const start = howToStartHere(code, user);
  return origin === defaultOrigin ? start : `${start} Or correct ${origin}.`;
}

function howToStartHere(code: string, { platform, uid }: PodmanUser): string {
  if (platform === "darwin") {
    return "Start its machine: `podman machine start` (the first time `podman machine init`); to install it: `brew install podman`.";
  }
  if (platform === "win32") {
    return "Start its machine: `podman machine start` (the first time `podman machine init`); to install it: `winget install RedHat.Podman`.";
  }
  const isDenied = code === "EACCES" || code === "EPERM";
  const start =
    uid === 0
      ? "Start it: `systemctl start podman.socket` (without systemd: `podman system service --time 0 &`)."
      : "Start it: `systemctl --user start podman.socket` (without systemd: `podman system service --time 0 &`).";
  if (isDenied) return `Use a service of this user's own. ${start}`;
  return code === "ENOENT" ? `${start} To install it: \`sudo apt-get install podman\` or podman.io.` : start;
}
