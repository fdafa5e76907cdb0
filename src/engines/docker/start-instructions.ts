import type { ConnectFailure, Unavailability } from "../docker-api/http/unavailability.ts";
import { defaultOrigin } from "./find-docker-endpoint.ts";
import { explainSshFailure } from "./ssh-instructions.ts";

/** Why Docker cannot be reached and what to do about it on this platform. */
export function explainDockerFailure(failure: ConnectFailure, platform: NodeJS.Platform): Unavailability {
  if (failure.kind === "ssh") return explainSshFailure(failure);
  return { reason: reason(failure), howToStart: howToStart(failure, platform) };
}

function reason({ code, origin, kind }: ConnectFailure): string {
  switch (code) {
    case "ENOENT":
      return `Docker is not running or not installed: ${origin} does not exist.`;
    case "ECONNREFUSED":
      return `Docker is not running: nothing answers on ${origin}.`;
    case "EACCES":
    case "EPERM":
      return `This user cannot use Docker: access to ${origin} is denied.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Docker cannot be reached: the host named by ${origin} is unknown.`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `Docker cannot be reached: the host named by ${origin} does not answer.`;
    default:
      if (code.startsWith("HTTP_")) return `What answers on ${origin} is not Docker, or wants TLS.`;
      if (isTlsCode(code)) return `Docker cannot be reached: TLS with ${origin} failed (${code}).`;
      return kind === "socket"
        ? `Docker closed the connection on ${origin}.`
        : `Docker cannot be used: the connection to ${origin} broke off.`;
  }
}

function isTlsCode(code: string): boolean {
  return /CERT|TLS|SSL|UNABLE_TO|SIGNATURE|EPROTO/.test(code);
}

function howToStart(failure: ConnectFailure, platform: NodeJS.Platform): string {
  const { code, kind, origin } = failure;
  if (code.startsWith("HTTP_")) return `Check ${origin}, and set DOCKER_TLS_VERIFY=1 when the engine wants TLS.`;
  if (isTlsCode(code)) {
    return "Check DOCKER_TLS_VERIFY and the files ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH, or the context's.";
  }
  if (kind === "tcp") return `Check ${origin} and that the Docker Engine on that host is started.`;
  const start = howToStartHere(code, platform);
  return origin === defaultOrigin ? start : `${start} Or correct ${origin}.`;
}

function howToStartHere(code: string, platform: NodeJS.Platform): string {
  if (platform === "darwin")
    return "Start Docker Desktop (`open -a Docker`); to install it: `brew install --cask docker`.";
  if (platform === "win32") {
    return "Start Docker Desktop from the Start menu; to install it: `winget install Docker.DockerDesktop`.";
  }
  if (code === "EACCES" || code === "EPERM") {
    return "Add the user to the group: `sudo usermod -aG docker $USER`, then log in again.";
  }
  const start = "Start it: `sudo systemctl start docker` (without systemd: `sudo dockerd &`).";
  return code === "ENOENT"
    ? `${start} To install it: \`sudo apt-get install docker.io\` or docs.docker.com/engine/install.`
    : start;
}
