// Sequences that terminals act on: CSI, strings (OSC, DCS and their like) to their end, and single characters. Each part
// takes characters that the next cannot begin with, so that hostile output takes no more than one pass.
const sequences =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|\u009b[0-?]*[ -/]*[@-~]?/g;

/** A program's text as a model reads it: without colours and whatever else is for terminals. */
export function plainText(text: string): string {
  return text.includes("\u001b") || text.includes("\u009b") ? text.replaceAll(sequences, "") : text;
}

/** The value with each text plain, save the content of files, which is what it is. */
export function withPlainTexts(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(withPlainTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "content" ? part : withPlainTexts(part)]),
  );
}
