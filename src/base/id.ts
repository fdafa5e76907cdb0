import { randomBytes } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * A new unguessable id: the prefix, a dash and 20 characters (100 bits) that fit names of containers and hosts.
 *
 * `random` gives n random bytes; default: the operating system's.
 */
export function createId(prefix: string, random: (count: number) => Uint8Array = randomBytes): string {
  let id = `${prefix}-`;
  for (const byte of random(20)) id += alphabet[byte % 32];
  return id;
}
