import type { FileFacts, FileKind, FileListing } from "./file-facts.ts";

/** What a record of `listScript` ends with. */
const recordEnd = Buffer.from("//\n");

/** By the first letter of what `ls -l` shows. */
const kinds: Readonly<Record<string, FileKind>> = { "-": "file", d: "folder", l: "link" };

/** The records of `listScript`, at most so many; the last one may be cut off. @throws RangeError for what it does not write */
export function parseListing(output: Buffer, maxEntries: number): FileListing {
  const entries: FileFacts[] = [];
  let at = 0;
  while (entries.length < maxEntries) {
    const end = output.indexOf(recordEnd, at);
    if (end < 0) break;
    entries.push(parseRecord(output.subarray(at, end)));
    at = end + recordEnd.length;
  }
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return { entries, isTruncated: at < output.length };
}

/** `drwxr-xr-x MODE SIZE SECONDS ./PATH`, the mode as an octal number, the seconds perhaps with a fraction. */
function parseRecord(record: Buffer): FileFacts {
  const head = /^([a-z?-])\S* ([0-7]{1,6}) (\d{1,15}) (-?\d{1,12})(?:\.\d+)? \.\//.exec(
    record.subarray(0, 120).toString("latin1"),
  );
  if (head === null) throw new RangeError("it is no listing");
  const [whole, letter = "", mode = "", size = "", seconds = ""] = head;
  const name = record.subarray(whole.length);
  const path = name.toString("utf8");
  const kind = kinds[letter] ?? "other";
  return {
    path,
    isAddressable: Buffer.from(path).equals(name),
    kind,
    sizeBytes: kind === "file" ? Number(size) : 0,
    mode: Number.parseInt(mode, 8),
    modifiedAtMs: Number(seconds) * 1000,
  };
}
