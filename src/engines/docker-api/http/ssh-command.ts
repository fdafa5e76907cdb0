import type { SshTarget } from "./endpoint.ts";

/**
 * Options of every connection. Nobody is there to answer a question of `ssh`'s, and the other machine gets nothing of this
 * one: neither its agent nor its ports. What does not answer for a minute and a half is gone.
 */
const options = ["BatchMode=yes", "ConnectTimeout=30", "ServerAliveInterval=30", "ClearAllForwardings=yes"];

/**
 * Argument vector of the user's own `ssh` that carries one connection to the engine over its standard input and output,
 * as Docker's own client does. The words of the remote command hold nothing that a shell reads (`parseSshAddress`).
 */
export function sshCommand({ host, user, port, socketPath }: SshTarget): readonly [string, ...string[]] {
  return [
    "ssh",
    ...options.flatMap((option) => ["-o", option]),
    ...["-a", "-x", "-T"],
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...["--", host],
    "docker",
    ...(socketPath === undefined ? [] : ["--host", `unix://${socketPath}`]),
    ...["system", "dial-stdio"],
  ];
}
