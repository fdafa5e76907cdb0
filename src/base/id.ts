import { randomBytes } from "node:crypto";

/** Form of every id that `createId` has made with a prefix of letters. */
const idForm = /^[a-z]+-[0-9a-hjkmnp-tv-z]{20}$/;

/** Whether a text has the form of an id of ours, and is not a word that somebody chose. */
export function isCreatedId(text: string): boolean {
  return idForm.test(text);
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * A new unguessable id: the prefix, a dash and 20 characters (100 bits) that fit names of containers and hosts.
 *
 * `random` gives n random bytes; default: the operating system's.
 */
export function createId(prefix: string, random: (count: number) => Uint8Array = randomBytes): string {
  return `${prefix}-${characters(20, random)}`;
}

/** Characters of a token. */
const tokenLength = 32;
/** What every token looks like. */
export const tokenForm: RegExp = /^[0-9a-hjkmnp-tv-z]{32}$/;

/** A new secret of 160 bits that fits a label of a host's name: 32 characters. */
export function createToken(random: (count: number) => Uint8Array = randomBytes): string {
  return characters(tokenLength, random);
}

function characters(count: number, random: (count: number) => Uint8Array): string {
  return Array.from(random(count), (byte) => alphabet[byte % 32]).join("");
}
