export type CgroupVersion = 1 | 2;

/** Controllers that a container's limits need. */
export const controllers = ["memory", "pids", "cpu"] as const;

/** Version 1 counts CPU time and bytes of disks in hierarchies of their own; in version 2 every group has the former. */
export const meters = ["cpuacct", "blkio"] as const;
export type Controller = (typeof controllers)[number] | (typeof meters)[number];

/** Folder that groups of a controller stand in. */
export type GroupPlaces = Map<Controller, { readonly folder: string; readonly version: CgroupVersion }>;

/** Where groups of ours may be made, as far as the mounts tell; whether they may is found by trying. */
export interface CgroupPlaces {
  /** Mount point of each controller's own hierarchy (version 1). */
  readonly version1: Readonly<Partial<Record<Controller, string>>>;
  /** Folders of the unified hierarchy (version 2), topmost first: its root, then down to our own group. */
  readonly version2: readonly string[];
}

interface Mount {
  readonly point: string;
  readonly root: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** Reads /proc/self/mountinfo and /proc/self/cgroup. */
export function parseCgroupPlaces(mountInfo: string, ownGroups: string): CgroupPlaces {
  const mounts = mountInfo
    .split("\n")
    .filter((line) => line !== "")
    .map(parseMount);
  const version1: Partial<Record<Controller, string>> = {};
  for (const { type, point, options } of mounts) {
    if (type !== "cgroup") continue;
    for (const controller of [...controllers, ...meters])
      if (options.includes(controller)) version1[controller] ??= point;
  }
  const unified = mounts.find(({ type }) => type === "cgroup2");
  const own = /^0::(\/.*)$/m.exec(ownGroups)?.[1];
  return { version1, version2: unified === undefined ? [] : foldersDownTo(unified, own ?? "/") };
}

/** `36 35 98:0 /root /point rw shared:1 - type source options`; spaces in paths are octal. */
function parseMount(line: string): Mount {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", point = ""] = before.split(" ").map(unescape);
  const [type = "", , options = ""] = after.split(" ");
  return { point, root, type, options: options.split(",") };
}

function unescape(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function foldersDownTo({ root, point }: Mount, own: string): readonly string[] {
  const folders = [point];
  const inside = root === "/" ? own : own.startsWith(`${root}/`) ? own.slice(root.length) : "/";
  // A path with `..` lies outside what our cgroup namespace shows.
  if (inside.includes("..")) return folders;
  for (const name of inside.split("/").filter(Boolean)) folders.push(`${folders.at(-1)}/${name}`);
  return folders;
}
