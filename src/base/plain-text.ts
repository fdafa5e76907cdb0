// Sequences that terminals act on: CSI, complete strings (OSC, DCS and the like), and single characters. Each part
// matches characters that the next cannot begin with, so that matching hostile output takes a single pass.
const sequences =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|\u009b[0-?]*[ -/]*[@-~]?/g;

/** A program's text for a model: without colours and other terminal sequences. */
export function plainText(text: string): string {
  return text.includes("\u001b") || text.includes("\u009b") ? text.replaceAll(sequences, "") : text;
}
