import type { BatchFile } from "./file-way.ts";

/**
 * Lists the regular files below the folder $1, each path led by `./` and ended by a NUL. Follows no link and leaves out
 * pipes and devices. For the shells and tools of Debian and of BusyBox.
 */
export const findScript = 'cd "$1" && exec find . -xdev -type f -print0';

/**
 * Writes the files below the folder $1 that are named by the fourth and later arguments: for each a line with its size
 * (`-` when it is gone or no regular file, `!` when it may not be read), its content in base64 when it has at most $2
 * bytes and all so far have at most $3, and a line with a dot, which base64 has not.
 */
export const readBatchScript = `cd "$1" || exit 1
each=$2 left=$3
shift 3
for path do
  size=-
  if [ -f "$path" ] && [ ! -L "$path" ]; then size=$(stat -c %s "$path") || size=-; fi
  if [ "$size" != - ] && [ ! -r "$path" ]; then size=!; fi
  echo "$size"
  case $size in
    -|!) ;;
    *) if [ "$size" -le "$each" ] && [ "$size" -le "$left" ]; then
      left=$((left - size))
      head -c "$size" "$path" | base64
    fi ;;
  esac
  echo .
done`;

/** The paths of `findScript`, without `./`; a truncated last one is dropped. */
export function parseList(output: Uint8Array): readonly Uint8Array[] {
  const paths: Uint8Array[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
    paths.push(output.subarray(start + 2, end));
    start = end + 1;
  }
  return paths;
}

/** The files of `readBatchScript` in order; fewer than requested if the output ends early. */
export function parseRead(output: Uint8Array): readonly BatchFile[] {
  const files: BatchFile[] = [];
  const text = Buffer.from(output.buffer, output.byteOffset, output.byteLength).toString("latin1");
  let start = 0;
  for (let end = text.indexOf("\n.\n", start); end !== -1; end = text.indexOf("\n.\n", start)) {
    const block = text.slice(start, end);
    const header = block.split("\n", 1)[0] ?? "";
    const sizeBytes = /^\d{1,15}$/.test(header) ? Number(header) : null;
    const content = block.length === header.length ? null : block.slice(header.length + 1);
    // An empty file produces no line of base64.
    const bytes = content === null ? (sizeBytes === 0 ? new Uint8Array() : null) : Buffer.from(content, "base64");
    files.push({ sizeBytes, unreadable: header === "!", bytes: sizeBytes === null ? null : bytes });
    start = end + 3;
  }
  return files;
}
