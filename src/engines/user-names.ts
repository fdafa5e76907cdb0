import { programUser } from "../policy/profile.ts";

/** A file of Glovebox's own, by its path on the engine's machine, and where a container has it. */
export interface OwnFile {
  readonly source: string;
  readonly target: string;
}

/** Where programs have a home: the one folder that each of them can write. */
const home = "/tmp";

/**
 * `/etc/passwd` of a sandbox: root, nobody, and the user that programs are, as `uid:gid`. Names give no right: nothing of an
 * image's own file is read, and no program becomes another user by one.
 */
export function passwdFile(user: string = programUser): string {
  const [uid, gid] = user.split(":") as [string, string];
  return linesOf([
    ["0", `root:x:0:0:root:${home}:/bin/sh`],
    ["65534", `nobody:x:65534:65534:nobody:${home}:/bin/sh`],
    [uid, `glovebox:x:${uid}:${gid}:glovebox:${home}:/bin/sh`],
  ]);
}

/** `/etc/group` to it. */
export function groupFile(user: string = programUser): string {
  const gid = user.split(":")[1] as string;
  return linesOf([
    ["0", "root:x:0:"],
    ["65534", "nogroup:x:65534:"],
    [gid, `glovebox:x:${gid}:`],
  ]);
}

/** `/etc/hosts` of a sandbox of that name: nothing about the machine that it is on. */
export function hostsFile(hostname: string): string {
  return `127.0.0.1 localhost ${hostname}\n::1 localhost\n`;
}

/** The first line for each number. */
function linesOf(lines: readonly (readonly [string, string])[]): string {
  const first = lines.filter(([id], at) => lines.findIndex(([other]) => other === id) === at);
  return first.map(([, line]) => `${line}\n`).join("");
}
