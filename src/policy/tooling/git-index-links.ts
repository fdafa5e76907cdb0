/** Repositories in a repository that are looked into: `git status` runs what their configuration names. */
const maxLinks = 64;

const headerBytes = 12;
const gitlink = 0o160000;
const isExtended = 0x4000;
const nameLengthMask = 0xfff;

/**
 * Paths of the repositories within a work tree (submodules) that git's index lists, as far as it can be read: of another
 * form than versions 2 to 4 nothing is known.
 */
export function gitIndexLinks(index: Uint8Array): readonly string[] {
  const bytes = Buffer.from(index.buffer, index.byteOffset, index.byteLength);
  if (bytes.length < headerBytes || bytes.toString("latin1", 0, 4) !== "DIRC") return [];
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return [];
  const count = bytes.readUInt32BE(8);
  const links: string[] = [];
  let name = Buffer.alloc(0);
  let at = headerBytes;
  for (let entry = 0; entry < count && links.length < maxLinks; entry += 1) {
    // Times, numbers and sizes; then the mode's 4 bytes at 24, the object's 20 at 40, the flags' 2 at 60.
    if (at + 62 > bytes.length) return links;
    const isLink = (bytes.readUInt32BE(at + 24) & 0o170000) === gitlink;
    const flags = bytes.readUInt16BE(at + 60);
    let start = at + 62 + ((flags & isExtended) === 0 ? 0 : 2);
    if (version === 4) {
      const dropped = readDropped(bytes, start);
      start = dropped.next;
      const end = bytes.indexOf(0, start);
      if (end < 0 || dropped.count > name.length) return links;
      name = Buffer.concat([name.subarray(0, name.length - dropped.count), bytes.subarray(start, end)]);
      at = end + 1;
      if (isLink) links.push(name.toString("utf8"));
      continue;
    }
    const length = flags & nameLengthMask;
    const end = length < nameLengthMask ? start + length : bytes.indexOf(0, start);
    if (end < 0 || end > bytes.length) return links;
    if (isLink) links.push(bytes.toString("utf8", start, end));
    // Filled with 1 to 8 zeros up to a multiple of 8.
    at += (Math.floor((end - at) / 8) + 1) * 8;
  }
  return links;
}

/** How much of the name before is dropped: git's variable-width number. */
function readDropped(bytes: Buffer, at: number): { readonly count: number; readonly next: number } {
  let next = at;
  let byte = bytes[next++] ?? 0;
  let count = byte & 0x7f;
  while ((byte & 0x80) !== 0 && next < bytes.length && count < bytes.length) {
    byte = bytes[next++] ?? 0;
    count = ((count + 1) << 7) | (byte & 0x7f);
  }
  return { count, next };
}
