import { canonicalName } from "../../../policy/network/domain-name.ts";

const headerBytes = 12;
/** Where the header says how many questions there are. */
const countAt = 4;
const longestLabel = 63;
/** As a name with its lengths may be at most. */
const longestName = 255;
/** The tree of names that stand for addresses: nobody asks for a host by one. */
const reversed = /\.arpa$/i;

/**
 * The name in a question to a resolver, as the program spelled it; null for whatever is no question for one strict name of a host.
 * The program made all of the bytes: a name is never longer than names may be, and pointers are not followed.
 */
export function questionName(bytes: Uint8Array): string | null {
  const question = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (question.length < headerBytes || question.readUInt16BE(countAt) !== 1) return null;
  const labels: string[] = [];
  for (let at = headerBytes; at < headerBytes + longestName;) {
    const length = question[at];
    if (length === undefined || length > longestLabel) return null;
    if (length === 0) return nameOf(labels);
    if (at + 1 + length > question.length) return null;
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return null;
}

function nameOf(labels: readonly string[]): string | null {
  const name = labels.join(".");
  return labels.some((label) => label.includes(".")) || canonicalName(name) === null || reversed.test(name)
    ? null
    : name;
}
