import { posix } from "node:path";

/** Attributes of a file by their name: what E2B calls its metadata. */
export type FileAttributes = Readonly<Record<string, string>>;

/** The extended attributes that are shown: those with this prefix, which is left out. */
export const attributePrefix = "user.e2b.";

/** Names and values of one file, together. */
export const maxAttributeBytes = 4096;

/** What the tool told of a file's attributes; what it cannot have told is left out. */
export function parseAttributes(text: string): FileAttributes {
  if (text.length > 4 * maxAttributeBytes || !/^(?:[\w.-]|%[0-9A-F]{2}|=|&)*$/.test(text)) return {};
  const pairs = text.split("&").flatMap((pair) => {
    const [name = "", value, more] = pair.split("=");
    return name === "" || value === undefined || more !== undefined ? [] : [[plain(name), plain(value)] as const];
  });
  return Object.fromEntries(pairs);
}

/** Where engines put the program that is the first one of a sandbox; it has tools for files that need nothing of the image. */
export const toolPaths = ["/.glovebox/supervisor", "/opt/glovebox/first/supervisor"] as const;

/** Shell text that sets `t` to it, or to nothing where an engine has none. */
export const findTool: string = `t=; for s in ${toolPaths.join(" ")}; do [ -x "$s" ] && t=$s && break; done`;

/** What its tools end with, besides 0. */
export const toolExits = { missing: 3, unsupported: 4, full: 5, notFolder: 6, late: 7, noTool: 127 } as const;

/**
 * Prints five texts for each path: it, facts of itself, facts of what it leads to, where that is, attributes; each ends in
 * a NUL.
 */
export const entriesScript = `
${findTool}
f='%f:%s:%Y:%U:%G'
for p do
  l=$(stat -c "$f" -- "$p" 2>/dev/null) || continue
  m=$l; r=
  if [ -L "$p" ]; then m=$(stat -L -c "$f" -- "$p" 2>/dev/null) || m=; r=$(readlink -f -- "$p" 2>/dev/null); fi
  a=; [ -n "$t" ] && a=$("$t" attributes ${attributePrefix} "$p" 2>/dev/null)
  printf '%s\\0%s\\0%s\\0%s\\0%s\\0' "$p" "$l" "$m" "$r" "$a"
done`;

/** A file or folder in E2B's form. */
export type FileEntry = Readonly<Record<string, string | number | FileAttributes>>;

const kinds: Readonly<Record<number, string>> = {
  0o100000: "FILE_TYPE_FILE",
  0o040000: "FILE_TYPE_DIRECTORY",
};
const kindBits = 0o170000;
const linkKind = 0o120000;

/** What the script printed, as entries; what it cannot have printed is left out. */
export function parseEntries(output: Uint8Array): readonly FileEntry[] {
  const texts = Buffer.from(output).toString("utf8").split("\0");
  const entries: FileEntry[] = [];
  for (let at = 0; at + 4 < texts.length; at += 5) {
    const [path = "", own = "", meant = "", target = "", attributes = ""] = texts.slice(at, at + 5);
    const metadata = parseAttributes(attributes);
    const entry = entryOf(path, { own: factsOf(own), meant: factsOf(meant), target, metadata });
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

interface Facts {
  readonly mode: number;
  readonly size: number;
  readonly modifiedSeconds: number;
  readonly owner: string;
  readonly group: string;
}

function factsOf(text: string): Facts | null {
  const [, mode = "", size, modified, owner = "", group = ""] =
    /^([0-9a-f]{1,8}):(\d{1,15}):(-?\d{1,11}):([^:]{1,64}):([^:]{1,64})$/.exec(text) ?? [];
  if (mode === "") return null;
  return {
    mode: Number.parseInt(mode, 16),
    size: Number(size),
    modifiedSeconds: Number(modified),
    owner: nameOf(owner),
    group: nameOf(group),
  };
}

/** E2B's name for the user of programs; others have their own. */
function nameOf(name: string): string {
  return name === "glovebox" ? "user" : name;
}

interface Told {
  readonly own: Facts | null;
  readonly meant: Facts | null;
  readonly target: string;
  readonly metadata: FileAttributes;
}

function entryOf(path: string, { own, meant, target, metadata }: Told): FileEntry | null {
  if (own === null) return null;
  const isLink = (own.mode & kindBits) === linkKind;
  const { mode } = meant ?? own;
  return {
    name: posix.basename(path),
    path,
    type: kinds[mode & kindBits] ?? "FILE_TYPE_UNSPECIFIED",
    size: String((meant ?? own).size),
    mode: mode & 0o7777,
    permissions: permissionsOf(mode, isLink),
    owner: own.owner,
    group: own.group,
    modifiedTime: new Date(own.modifiedSeconds * 1000).toISOString(),
    ...(isLink ? { symlinkTarget: target } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

function permissionsOf(mode: number, isLink: boolean): string {
  const kind = isLink ? "L" : (mode & kindBits) === 0o040000 ? "d" : "-";
  return kind + [6, 3, 0].map((shift) => bitsOf(mode >> shift)).join("");
}

function bitsOf(bits: number): string {
  return `${(bits & 4) === 0 ? "-" : "r"}${(bits & 2) === 0 ? "-" : "w"}${(bits & 1) === 0 ? "-" : "x"}`;
}

/** Bytes that are no UTF-8 become the sign for that. */
function plain(escaped: string): string {
  const bytes = escaped.replaceAll(/%(..)/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
