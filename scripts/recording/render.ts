/** One command as a person would type it, and what it printed. */
export interface Recorded {
  readonly command: string;
  readonly output: string;
}

interface Line {
  readonly text: string;
  /** When it appears, in seconds from the start. */
  readonly at: number;
  readonly kind: "command" | "output" | "message";
}

const width = 860;
const lineHeight = 20;
const margin = 20;
const top = 44;
/** Characters of one line: 14 px of a monospaced font are about 8.4 px wide. */
const columns = Math.floor((width - 2 * margin) / 8.4);
const colours = { command: "#e6edf3", output: "#7ee787", message: "#ffa657" } as const;

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The lines of a text, broken between words at the width of the picture. */
const wrap = (text: string): readonly string[] => {
  if (text.length <= columns) return [text];
  const end = Math.max(text.lastIndexOf(" ", columns), 1);
  return [text.slice(0, end), ...wrap(text.slice(end + 1))];
};

function linesOf(recorded: readonly Recorded[]): readonly Line[] {
  let at = 0.5;
  return recorded.flatMap(({ command, output }) => {
    const typed = `$ ${command}`.split("\n").flatMap(wrap);
    const start = at;
    at += 2.5;
    let isOurs = false;
    const printed = output.trimEnd().split("\n");
    return [
      ...typed.map((text): Line => ({ text, at: start, kind: "command" })),
      ...printed.flatMap((line) => {
        // What Glovebox says, and the advice below it, stand out from what programs print.
        isOurs = line.startsWith("glovebox: ") || (isOurs && line.startsWith("  "));
        const kind = isOurs ? "message" : "output";
        return wrap(line).map((text): Line => ({ text, at: start + 1, kind }));
      }),
    ];
  });
}

/** A terminal in which the commands appear one after another and then stay; it needs neither scripts nor fonts. */
export function renderRecording(recorded: readonly Recorded[]): string {
  const lines = linesOf(recorded);
  const height = top + lines.length * lineHeight + margin;
  const texts = lines.map(
    ({ text, at, kind }, index) =>
      `  <text x="${margin}" y="${top + (index + 1) * lineHeight - 6}" fill="${colours[kind]}" style="animation-delay:${at}s">${escape(text)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "  <style>",
    "    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; opacity: 0; animation: show 0.1s forwards }",
    "    @keyframes show { to { opacity: 1 } }",
    "    @media (prefers-reduced-motion: reduce) { text { opacity: 1; animation: none } }",
    "  </style>",
    `  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...["#ff5f56", "#ffbd2e", "#27c93f"].map(
      (colour, index) => `  <circle cx="${margin + 6 + index * 20}" cy="22" r="6" fill="${colour}"/>`,
    ),
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}
