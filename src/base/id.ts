import { randomBytes } from "node:crypto";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** Form of every id that `createId` has made with a prefix of letters. */
const idForm = /^[a-z]+-[0-9a-hjkmnp-tv-z]{20}$/;

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

/** Something that is found by its id, its caller's own name for it, or the beginning of its id. */
export interface Named {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** Characters of an id's own part from which on a beginning counts. */
const minBeginning = 4;
/** Maximum candidates that an error names. */
const maxShown = 20;

/**
 * What a word means among things that are all the caller's own (SPEC UI1): the one with that whole id, else the one with
 * that name, else the one whose id begins with it, with or without the id's first word and its dash, from four characters
 * on. Names are never shortened: a list without the one that was meant might have another that begins like it.
 * @throws INVALID_REQUEST naming the field and the candidates if it means several
 */
export function findNamed<Thing extends Named>(
  word: string,
  things: readonly Thing[],
  field: string,
): Thing | undefined {
  const whole = things.find(({ id }) => id === word);
  if (whole !== undefined) return whole;
  const named = things.filter(({ name }) => name === word);
  const found = named.length > 0 ? named : things.filter(({ id }) => beginsWith(id, word));
  if (found.length > 1) throw ambiguous(word, found, field);
  return found[0];
}

/** Ids that somebody chose are words: only those of ours are shortened. */
function beginsWith(id: string, word: string): boolean {
  if (!isCreatedId(id)) return false;
  const dash = id.indexOf("-");
  const own = id.slice(dash + 1);
  const asked = word.startsWith(id.slice(0, dash + 1)) ? word.slice(dash + 1) : word;
  return asked.length >= minBeginning && own.startsWith(asked);
}

function ambiguous(word: string, found: readonly Named[], field: string): GloveboxError {
  const shown = found.slice(0, maxShown).map(({ id, name }) => (name ? `${id} (${name})` : id));
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : "";
  return new GloveboxError(
    "INVALID_REQUEST",
    `${field}: ${JSON.stringify(word.slice(0, 80))} may be ${shown.join(", ")}${more}.`,
    {
      suggestion: "Use the whole id of the one that is meant.",
      context: { field, candidates: found.slice(0, maxShown).map(({ id }) => id) },
    },
  );
}

/**
 * Whether a text has the form of an id of ours, and is not a word that somebody chose.
 * @hostileText Exported for the test that feeds it.
 */
export function isCreatedId(text: string): boolean {
  return idForm.test(text);
}

function characters(count: number, random: (count: number) => Uint8Array): string {
  return Array.from(random(count), (byte) => alphabet[byte % 32]).join("");
}
