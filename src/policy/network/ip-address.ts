/** Bytes of an address: 4 or 16. */
export type AddressBytes = readonly number[];

/**
 * An address in the notation that resolvers answer with: four decimal numbers, or IPv6 text, zone left out.
 * Null for everything else, octal and hexadecimal spellings too.
 */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(":") ? parseVersion6(text) : parseVersion4(text);
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
