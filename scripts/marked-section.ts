/**
 * Replaces what is between the markers `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` of a text. Each
 * marker is on a separate line; the body goes between them, with an empty line before and after it.
 * @throws Error unless the text has exactly one such pair
 */
export function replaceMarked(text: string, name: string, body: string): string {
  const lines = text.split("\n");
  const start = onlyLine(lines, `<!-- generated:${name} -->`);
  const end = onlyLine(lines, `<!-- /generated:${name} -->`);
  if (end < start) throw new Error(`The markers of "${name}" are in the wrong order.`);
  return [...lines.slice(0, start + 1), "", ...body.trim().split("\n"), "", ...lines.slice(end)].join("\n");
}

function onlyLine(lines: readonly string[], marker: string): number {
  const first = lines.indexOf(marker);
  if (first === -1 || lines.includes(marker, first + 1)) throw new Error(`Expected exactly one line ${marker}`);
  return first;
}
