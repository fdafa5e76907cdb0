import { sandboxHostname } from "../arguments/bwrap-arguments.ts";

/** Files of a sandbox's /etc that tell nothing of the host, by name. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd: [
    "root:x:0:0:root:/tmp:/bin/sh",
    "nobody:x:65534:65534:nobody:/tmp:/bin/sh",
    "glovebox:x:1000:1000:glovebox:/tmp:/bin/sh",
    "",
  ].join("\n"),
  group: ["root:x:0:", "nogroup:x:65534:", "glovebox:x:1000:", ""].join("\n"),
  hosts: `127.0.0.1 localhost ${sandboxHostname}\n::1 localhost\n`,
  hostname: `${sandboxHostname}\n`,
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Symbolic links of a sandbox's /etc, by name. */
export const etcLinks: Readonly<Record<string, string>> = {
  mtab: "../proc/self/mounts",
  "os-release": "../usr/lib/os-release",
};
