import type { readFrameTable } from "./supervisor-frames.ts";

type FrameTable = ReturnType<typeof readFrameTable>;

/** The TypeScript module of the table: `src/engines/supervised/frames/frame-table.ts`. */
export function frameModule({ version, limits, frames, enums }: FrameTable): string {
  return [
    "// Generated from supervisor/frames.json by scripts/write-supervisor-frames.ts.",
    "",
    "/** Version of the protocol, which both ends must have. */",
    `export const protocolVersion = ${version};`,
    "",
    "/** Bounds of the protocol. */",
    "export const frameLimits = {",
    ...Object.entries(limits).flatMap(([name, { value, about }]) => [comment(about), `  ${name}: ${grouped(value)},`]),
    "} as const;",
    "",
    "/** Every frame: its number, who sends it, on which stream, and its fields in their order. */",
    "export const frameTable = {",
    ...frames.flatMap((frame) => frameLines(frame)),
    "} as const;",
    "",
    ...enums.flatMap(({ name, values }) => [
      `/** Numbers of the protocol: ${name}. */`,
      `export const ${camelCase(name)} = {`,
      ...values.map(([word, value]) => `  ${word}: ${grouped(value)},`),
      "} as const;",
      "",
    ]),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function frameLines({ name, type, from, stream, fields, tail }: FrameTable["frames"][number]): readonly string[] {
  const head = [`type: ${type}`, `from: "${from}"`, `stream: "${stream}"`];
  const pairs = fields.map(([field, kind]) => `${field}: "${kind}"`);
  const list = pairs.length === 0 ? "fields: {}" : `fields: { ${pairs.join(", ")} }`;
  const rest = `tail: ${tail !== undefined}`;
  const oneLine = `  ${name}: { ${[...head, list, rest].join(", ")} },`;
  if (oneLine.length <= maxLineLength) return [oneLine];
  const shortList = `    ${list},`;
  return [
    `  ${name}: {`,
    ...head.map((part) => `    ${part},`),
    ...(shortList.length <= maxLineLength
      ? [shortList]
      : ["    fields: {", ...pairs.map((pair) => `      ${pair},`), "    },"]),
    `    ${rest},`,
    "  },",
  ];
}

const maxLineLength = 120;

function comment(text: string): string {
  return `  /** ${text} */`;
}

/** As the linter wants numbers: digits in groups of three, from five on. */
function grouped(value: number): string {
  return value < 10_000 ? String(value) : value.toString().replaceAll(/\B(?=(?:\d{3})+$)/g, "_");
}

function camelCase(words: string): string {
  return words.replaceAll(/ ([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
