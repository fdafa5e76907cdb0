import { attacksOf, open, type Attack, type Expectation } from "../../../src/workloads/proof/attack.ts";

const hardLink = open(
  "a hard link cannot be distinguished from the file: anyone who can make one there already has the file",
);
const everywhere: Readonly<Record<"docker" | "podman" | "runsc" | "local", Expectation>> = {
  docker: hardLink,
  podman: hardLink,
  runsc: hardLink,
  local: hardLink,
};

/** Where each one leads, relative to the project's folder; `@` stands for the folder that contains the project. */
const places: Readonly<Record<string, readonly [tries: string, path: string]>> = {
  "names-file-outside": ["name a file outside the project by `..`", "../outside/a.txt"],
  "names-file-outside-by-detour": ["climb out on the way", "data/../../outside/a.txt"],
  "names-absolute-path": ["name it by its absolute path", "@/outside/a.txt"],
  "names-path-by-proc": ["name it by way of /proc/self/root", "/proc/self/root@/outside/a.txt"],
  "follows-link-out": ["follow a link out of the project", "out.txt"],
  "follows-linked-folder-out": ["follow a link to a folder outside", "away/a.txt"],
  "follows-chain-of-links-out": ["follow a link to a link", "chain.txt"],
  "names-blocked-file": ["name a file with secrets (.env)", ".env"],
  "names-file-in-blocked-folder": ["name a file in a folder of keys (.ssh)", "keys/.ssh/config"],
  "names-blocked-folder-in-capitals": ["name one whose folder is written .SsH", "odd/.SsH/config"],
  "names-blocked-folder-in-odd-letters": ["name one whose folder is written with a long s", "odd/.\u017fsh/config"],
  "names-deep-in-blocked-folder": ["name one deep below a folder of credentials", "odd/Credentials/deep/er/a.txt"],
  "follows-link-to-blocked-file": ["follow a harmless name to a file with secrets", "innocent.txt"],
  "follows-link-to-blocked-folder": ["follow a harmless folder to keys", "harmless/config"],
  "names-engine-socket": ["name an engine's socket", "/var/run/docker.sock"],
  "follows-link-to-engine-socket": ["follow a link to an engine's socket", "socket"],
  "names-hard-link": ["name a hard link to a file outside", "hard.txt"],
};

/** Attacks on the gate through which host files reach a sandbox. */
export const mountAttacks: readonly Attack[] = attacksOf({
  group: "Through mounts and context files",
  control: "plainMount",
  attacks: Object.fromEntries(Object.entries(places).map(([id, [tries]]) => [id, tries])),
  exceptions: { "names-hard-link": everywhere },
});

/** The path that an attack names if the project is in `folder`. */
export function pathOfMountAttack(id: string, folder: string): string {
  return (places[id]?.[1] ?? "").replace("@", folder);
}
