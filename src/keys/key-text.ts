import { createHash } from "node:crypto";
import { createId } from "../base/id.ts";

/** A key as its owner has it, and the two parts that are stored. */
export interface NewKey {
  /** `gbx_ID_SECRET`; shown once. */
  readonly text: string;
  readonly id: string;
  /** Of the whole text. */
  readonly digest: Uint8Array;
}

/** A prefix by which people and secret scanners recognise it; then the id, then 256 bits. */
const form = /^gbx_([0-9a-z]{12})_[\w-]{43}$/;

/** A new key; `random` gives n random bytes. */
export function makeKey(random: (count: number) => Uint8Array): NewKey {
  const id = createId("", random).slice(1, 13);
  const text = `gbx_${id}_${Buffer.from(random(32)).toString("base64url")}`;
  return { text, id, digest: digestOf(text) };
}

/** The id in a text that has the form of a key; null for any other text. */
export function idOf(text: string): string | null {
  return form.exec(text)?.[1] ?? null;
}

/**
 * The stored hash of a key. A fast hash is right here: slow ones protect secrets that can be guessed, and 256 random
 * bits cannot; computed for each request, they would be a way to overload the server.
 */
export function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
