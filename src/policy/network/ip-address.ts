/** Bytes of an address: 4 or 16. */
type AddressBytes = readonly number[];

/**
 * An address in the notation that resolvers answer with: four decimal numbers, or IPv6 text, zone left out.
 * Null for everything else, octal and hexadecimal spellings too.
 */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(":") ? parseVersion6(text) : parseVersion4(text);
}

/** Addresses that begin with the same bits. */
export interface AddressRange {
  readonly bytes: AddressBytes;
  readonly bits: number;
}

/** `address` or `address/bits`; null for everything else. */
export function parseAddressRange(text: string): AddressRange | null {
  const [address = "", bits, ...rest] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0 || address.includes("%")) return null;
  if (bits === undefined) return { bytes, bits: bytes.length * 8 };
  const isNumber = /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= bytes.length * 8;
  return isNumber ? { bytes, bits: Number(bits) } : null;
}

export function isWithinRange(address: AddressBytes, { bytes, bits }: AddressRange): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const counted = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - counted)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}

/**
 * What an address is to the egress proxy: `public` may be dialled; `private` only for a host that the operator trusts by
 * name; `never` for nobody.
 */
interface AddressKind {
  readonly reach: "public" | "private" | "never";
  /** Such as "loopback". */
  readonly words: string;
}

type Row = readonly [prefix: string, bits: number, reach: "private" | "never", words: string];

/** From IANA's registries of special-purpose addresses, and the metadata services of clouds. First match counts. */
const special4: readonly Row[] = [
  ["169.254.0.0", 16, "never", "link-local, where clouds serve their metadata"],
  ["168.63.129.16", 32, "never", "a cloud's metadata service"],
  ["100.100.100.200", 32, "never", "a cloud's metadata service"],
  ["192.0.0.192", 32, "never", "a cloud's metadata service"],
  ["0.0.0.0", 8, "never", "this host"],
  ["224.0.0.0", 4, "never", "multicast"],
  ["255.255.255.255", 32, "never", "broadcast"],
  ["127.0.0.0", 8, "private", "loopback"],
  ["10.0.0.0", 8, "private", "private"],
  ["172.16.0.0", 12, "private", "private"],
  ["192.168.0.0", 16, "private", "private"],
  ["100.64.0.0", 10, "private", "carrier-grade NAT"],
  ["192.0.0.0", 24, "private", "protocol assignments"],
  ["192.88.99.0", 24, "private", "6to4 relay"],
  ["198.18.0.0", 15, "private", "benchmarking"],
  ["192.0.2.0", 24, "private", "documentation"],
  ["198.51.100.0", 24, "private", "documentation"],
  ["203.0.113.0", 24, "private", "documentation"],
  ["240.0.0.0", 4, "private", "reserved"],
];

/** Whatever is not in 2000::/3 is refused too. */
const special6: readonly Row[] = [
  ["fe80::", 10, "never", "link-local"],
  ["fd00:ec2::254", 128, "never", "a cloud's metadata service"],
  ["ff00::", 8, "never", "multicast"],
  ["::", 128, "never", "this host"],
  ["::1", 128, "private", "loopback"],
  ["fc00::", 7, "private", "unique local"],
  ["2001:db8::", 32, "private", "documentation"],
  ["3fff::", 20, "private", "documentation"],
  ["2001::", 23, "private", "protocol assignments, Teredo among them"],
];

/** Where an IPv4 address lies inside an IPv6 one, by the byte it starts at. */
const embedding: readonly (readonly [prefix: string, bits: number, at: number, words: string])[] = [
  ["::ffff:0:0", 96, 12, "IPv4-mapped"],
  ["::ffff:0:0:0", 96, 12, "IPv4-translated"],
  ["64:ff9b::", 96, 12, "NAT64"],
  ["2002::", 16, 2, "6to4"],
];

/**
 * The kind of an address; `never` for text that is none. What lies within `own`, the addresses of this machine, is private
 * at most, however public it looks from elsewhere. Not `net.BlockList`, which tells only whether an address is listed: a
 * refusal names the kind, and an IPv4 address is judged wherever it lies inside an IPv6 one.
 */
export function addressKind(text: string, own: readonly AddressRange[] = []): AddressKind {
  const bytes = parseAddress(text);
  if (bytes === null) return { reach: "never", words: "not an address" };
  return bytes.length === 4 ? kindOf4(bytes, own) : kindOf6(bytes, own);
}

const loopback = ["127.0.0.0/8", "::1"].flatMap((text) => parseAddressRange(text) ?? []);

/** Whether an address, or the IPv4 one that it carries, lies within one of the ranges. */
export function isAmong(text: string, ranges: readonly AddressRange[]): boolean {
  const bytes = parseAddress(text) ?? [];
  const carrier = embedding.find(([prefix, bits]) => isWithin(bytes, prefix, bits));
  const forms = [bytes, ...(carrier === undefined ? [] : [bytes.slice(carrier[2], carrier[2] + 4)])];
  return forms.some((form) => ranges.some((range) => isWithinRange(form, range)));
}

/** Whether an address leads to this machine itself; `own` are its addresses besides loopback. */
export function isOfThisMachine(text: string, own: readonly AddressRange[]): boolean {
  return isAmong(text, [...loopback, ...own]);
}

function kindOf4(bytes: AddressBytes, own: readonly AddressRange[]): AddressKind {
  return find(special4, bytes) ?? ownKind(bytes, own) ?? { reach: "public", words: "public" };
}

/** What embeds an IPv4 address is what that is, save that an odd way to a public one is not taken but by NAT64. */
function kindOf6(bytes: AddressBytes, own: readonly AddressRange[]): AddressKind {
  const carrier = embedding.find(([prefix, bits]) => isWithin(bytes, prefix, bits));
  if (carrier !== undefined) {
    const [, , at, words] = carrier;
    const inner = kindOf4(bytes.slice(at, at + 4), own);
    if (inner.reach === "public" && words === "NAT64") return ownKind(bytes, own) ?? inner;
    return { reach: inner.reach === "never" ? "never" : "private", words: `${words}, ${inner.words}` };
  }
  const found = find(special6, bytes) ?? ownKind(bytes, own);
  if (found !== null) return found;
  return isWithin(bytes, "2000::", 3)
    ? { reach: "public", words: "public" }
    : { reach: "private", words: "not of the public Internet" };
}

function ownKind(bytes: AddressBytes, own: readonly AddressRange[]): AddressKind | null {
  return own.some((range) => isWithinRange(bytes, range)) ? { reach: "private", words: "this machine's own" } : null;
}

function find(rows: readonly Row[], bytes: AddressBytes): AddressKind | null {
  const row = rows.find(([prefix, bits]) => isWithin(bytes, prefix, bits));
  return row === undefined ? null : { reach: row[2], words: row[3] };
}

function isWithin(bytes: AddressBytes, prefix: string, bits: number): boolean {
  const range = parseAddressRange(`${prefix}/${bits}`);
  return range !== null && isWithinRange(bytes, range);
}

function parseVersion4(text: string): AddressBytes | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

function parseVersion6(text: string): AddressBytes | null {
  const sides = text.split("%", 1)[0]?.split("::") ?? [];
  if (sides.length > 2) return null;
  const [head, tail] = sides.map((side, index) => groupBytes(side, index === sides.length - 1));
  if (head === undefined || head === null || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  const missing = 16 - head.length - tail.length;
  return missing >= 2 ? [...head, ...Array.from({ length: missing }, () => 0), ...tail] : null;
}

/** Bytes of groups with `:` between them; the last of all may be an IPv4 address. */
function groupBytes(side: string, isLast: boolean): AddressBytes | null {
  if (side === "") return [];
  const groups = side.split(":");
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (group.includes(".")) {
      const embedded = isLast && index === groups.length - 1 ? parseVersion4(group) : null;
      if (embedded === null) return null;
      bytes.push(...embedded);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}
