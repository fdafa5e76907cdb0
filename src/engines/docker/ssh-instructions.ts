import type { ConnectFailure, Unavailability } from "../docker-api/http/unavailability.ts";

/** Why Docker on the host that an `ssh://` address names cannot be reached, and what to do about it. */
export function explainSshFailure({ code, origin, detail = "" }: ConnectFailure): Unavailability {
  const host = `the host named by ${origin}`;
  const words = detail === "" ? "" : ` (${detail})`;
  switch (code) {
    case "SSH_MISSING":
      return {
        reason: `Docker cannot be reached: ${origin} needs the program ssh, which is not installed.`,
        howToStart: "Install OpenSSH's client (`sudo apt-get install openssh-client`) and see that ssh is on the PATH.",
      };
    case "SSH_HOST_KEY":
      return {
        reason: `Docker cannot be reached: the key of ${host} is unknown or has changed.`,
        howToStart: "Connect once by hand with `ssh HOST`, compare the key that it shows, accept it, and retry.",
      };
    case "SSH_DENIED":
      return {
        reason: `Docker cannot be reached: ${host} refuses this user${words}.`,
        howToStart:
          "Nothing prompts for passwords: use a key without one, or an ssh agent that holds it, until `ssh -o BatchMode=yes HOST true` succeeds.",
      };
    case "SSH_NO_DOCKER":
      return {
        reason: `Docker cannot be reached: ${host} has no docker command for this user${words}.`,
        howToStart: "Install Docker there, 18.09 or newer, until `ssh HOST docker system dial-stdio` finds it.",
      };
    case "SSH_ENGINE":
      return {
        reason: `Docker does not answer on ${host}${words}.`,
        howToStart:
          "Start Docker there (`sudo systemctl start docker`), and allow the user (`sudo usermod -aG docker USER`), until `ssh HOST docker version` succeeds.",
      };
    case "ENOTFOUND":
      return {
        reason: `Docker cannot be reached: ${host} is unknown.`,
        howToStart: `Check ${origin} and the configuration of ssh.`,
      };
    case "ECONNREFUSED":
    case "ETIMEDOUT":
      return {
        reason: `Docker cannot be reached: ${host} does not answer.`,
        howToStart: `Check ${origin}, and that an SSH server runs there: \`ssh HOST true\`.`,
      };
    default:
      return {
        reason: code.startsWith("HTTP_")
          ? `What answers on ${host} is not Docker.`
          : `Docker cannot be used: the connection to ${host} over SSH broke off${words}.`,
        howToStart: `Check ${origin} with \`ssh -o BatchMode=yes HOST docker version\`.`,
      };
  }
}
