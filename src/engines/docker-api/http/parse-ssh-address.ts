import type { SshTarget } from "./endpoint.ts";

const form = /^(?:([^@/]*)@)?(\[[\da-f:.]+\]|[^:/@[\]]*)(?::(\d{1,5}))?(\/.*)?$/i;

/**
 * What users and hosts may be named: neither an option of `ssh`, which begins with `-`, nor anything that a shell would
 * read otherwise than as a word, because `ssh` hands them to the commands of its configuration.
 */
const name = /^\w[\w.+-]*$/;
const address = /^[\da-f:.]+$/i;
/** The other machine's shell reads it. */
const path = /^\/[\w./+@-]+$/;

/** What follows `ssh://`: `[USER@]HOST[:PORT][/PATH/OF/THE/SOCKET]`; null for anything else, a password among it. */
export function parseSshAddress(text: string): SshTarget | null {
  const [, user, bracketed = "", port, tail = "/"] = form.exec(text) ?? [];
  const host = bracketed.replace(/^\[(.*)\]$/, "$1");
  if (!name.test(host) && !(host !== bracketed && address.test(host))) return null;
  if (user !== undefined && !name.test(user)) return null;
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return null;
  if (tail !== "/" && !path.test(tail)) return null;
  return {
    host,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(tail === "/" ? {} : { socketPath: tail }),
  };
}
