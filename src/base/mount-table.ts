/** One line of a mount table of Linux (`/proc/PID/mountinfo`). */
export interface MountEntry {
  readonly id: number;
  /** `major:minor` of the file system. */
  readonly device: string;
  /** Path of what is mounted within its file system. */
  readonly root: string;
  /** Where it is mounted, as the process of the table sees it. */
  readonly mountPoint: string;
  /** Options of this mount, such as `ro`, with commas between them. */
  readonly ownOptions: string;
  /** Kind of the file system, such as `tmpfs`. */
  readonly kind: string;
  /** Options of the file system itself, with commas between them. */
  readonly options: string;
}

/** Reads a mount table, in the order in which the mounts were made; lines of another form are left out. */
export function parseMountTable(text: string): readonly MountEntry[] {
  return text.split("\n").flatMap((line) => {
    const words = line.split(" ");
    const [id = "", , device, root, mountPoint, ownOptions = ""] = words;
    if (!/^\d+$/.test(id) || device === undefined || root === undefined || mountPoint === undefined) return [];
    const options = unescape(words.at(-1) ?? "");
    const kind = words[words.indexOf("-", 6) + 1] ?? "";
    const place = { device, root: unescape(root), mountPoint: unescape(mountPoint) };
    return [{ id: Number(id), ...place, ownOptions, kind, options }];
  });
}

/** The kernel writes bytes that would break a line as `\` and three octal digits. */
function unescape(name: string): string {
  return name.replace(/\\([0-3][0-7]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
