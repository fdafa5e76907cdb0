import { readFileSync } from "node:fs";
import { replaceMarked } from "./marked-section.ts";

/** Bytes that a field of a frame takes. */
const fieldBytes = { u8: 1, u16: 2, u32: 4, u64: 8 } as const;

type FieldType = keyof typeof fieldBytes;

interface Frame {
  readonly name: string;
  readonly type: number;
  readonly from: "host" | "supervisor" | "both";
  readonly stream: "zero" | "new" | "live" | "liveOrZero" | "any";
  readonly about: string;
  /** Name, type, meaning: little endian, in this order, without padding. */
  readonly fields: readonly (readonly [string, FieldType, string])[];
  /** What follows the fields, up to the end of the frame. */
  readonly tail?: string;
}

/** The table of frames, as `supervisor/frames.json` has it. */
interface FrameTable {
  readonly version: number;
  readonly limits: Readonly<Record<string, { readonly value: number; readonly about: string }>>;
  readonly frames: readonly Frame[];
  readonly enums: readonly {
    readonly name: string;
    readonly prefix: string;
    readonly values: readonly (readonly [string, number, string])[];
  }[];
}

/** Reads the table that both ends are made from. */
export function readFrameTable(): FrameTable {
  return JSON.parse(readFileSync(new URL("../supervisor/frames.json", import.meta.url), "utf8")) as FrameTable;
}

/** The C header of the table: `supervisor/frames.h`. */
export function frameHeader({ version, limits, frames, enums }: FrameTable): string {
  return [
    "/* Generated from frames.json by scripts/write-supervisor-frames.ts. */",
    "#ifndef FRAMES_H",
    "#define FRAMES_H",
    "#include <stdint.h>",
    "",
    `#define PROTOCOL_VERSION ${version}`,
    ...Object.entries(limits).map(([name, { value }]) => `#define ${constantName(name)} ${value}u`),
    "",
    "enum frame_type {",
    ...frames.map(({ name, type }) => `  F_${name} = ${type},`),
    "};",
    "",
    ...enums.flatMap(({ prefix, values }) => [
      ...values.map(([name, value]) => `#define ${prefix}_${name} ${value}`),
      "",
    ]),
    ...frames.flatMap(structOf),
    "#endif",
    "",
  ].join("\n");
}

/** The text of `supervisor/PROTOCOL.md` with the tables of frames, limits and numbers. */
export function withFrameTables(text: string, table: FrameTable): string {
  const sections = [
    ...table.frames.map(frameSection),
    table.enums
      .map(({ name, prefix, values }) => [
        `**${name}** (\`${prefix}_…\`)`,
        "",
        "| name | value | meaning |",
        "| --- | --- | --- |",
        ...values.map(([word, value, about]) => `| ${word} | ${value} | ${about} |`),
      ])
      .map((lines) => lines.join("\n"))
      .join("\n\n"),
    ["| limit | value | of |", "| --- | --- | --- |", ...limitRows(table)].join("\n"),
  ];
  return replaceMarked(text, "frames", sections.join("\n\n"));
}

function limitRows({ limits }: FrameTable): readonly string[] {
  return Object.entries(limits).map(([name, { value, about }]) => `| ${name} | ${value} | ${about} |`);
}

function frameSection({ name, type, from, stream, about, fields, tail }: Frame): string {
  const parts = fields.map(([field, kind, meaning]) => `\`${field}\` ${kind}${meaning === "" ? "" : ` (${meaning})`}`);
  if (tail !== undefined) parts.push(`then *${tail}*`);
  const body = parts.length === 0 ? "No payload." : `Payload: ${parts.join("; ")}.`;
  return `**${name}** = ${type}, from ${from}, stream: ${stream}. ${about}\n${body}`;
}

function structOf({ name, fields, tail }: Frame): readonly string[] {
  const bytes = fields.reduce((sum, [, kind]) => sum + fieldBytes[kind], 0);
  const constant = `#define ${name}_BYTES ${bytes}u`;
  const hasTail = `#define ${name}_TAIL ${tail === undefined ? 0 : 1}`;
  if (fields.length === 0) return [constant, hasTail, ""];
  const struct = `frame_${name.toLowerCase()}`;
  return [
    `struct __attribute__((packed)) ${struct} {`,
    ...fields.map(([field, kind]) => `  uint${fieldBytes[kind] * 8}_t ${snakeCase(field)};`),
    "};",
    `_Static_assert(sizeof(struct ${struct}) == ${bytes}, "${name}");`,
    constant,
    hasTail,
    "",
  ];
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function constantName(name: string): string {
  return snakeCase(name).toUpperCase();
}
