import type { frameTable } from "./frame-table.ts";

/** Name of a frame, as `supervisor/frames.json` has it. */
export type FrameName = keyof typeof frameTable;

/** Frames that the host may send. */
export type HostFrameName = NamesFrom<"host" | "both">;

/** Frames that the supervisor may send. */
export type SupervisorFrameName = NamesFrom<"supervisor" | "both">;

type NamesFrom<Side> = {
  [Name in FrameName]: (typeof frameTable)[Name]["from"] extends Side ? Name : never;
}[FrameName];

type FieldTypes<Name extends FrameName> = (typeof frameTable)[Name]["fields"];

/** Fields of a frame without those that are always zero; a number of 64 bits is a `bigint`. */
export type FrameFields<Name extends FrameName> = {
  readonly [
    Field in keyof FieldTypes<Name> as Field extends "zero" ? never : Field
  ]: FieldTypes<Name>[Field] extends "u64" ? bigint : number;
} & ((typeof frameTable)[Name]["tail"] extends true ? { readonly tail: Uint8Array } : unknown);

/** A frame with one of these names. */
export type FrameOf<Name extends FrameName> = {
  [Each in Name]: { readonly name: Each; readonly stream: number; readonly fields: FrameFields<Each> };
}[Name];

/** What the supervisor has said. */
export type SupervisorFrame = FrameOf<SupervisorFrameName>;

/** Bytes of a field. */
export const fieldBytes = { u8: 1, u16: 2, u32: 4, u64: 8 } as const;

/** How a frame is laid out, for code that goes through its fields. */
export interface FrameLayout {
  readonly type: number;
  readonly from: "host" | "supervisor" | "both";
  readonly stream: "zero" | "new" | "live" | "liveOrZero" | "any";
  readonly fields: Readonly<Record<string, keyof typeof fieldBytes>>;
  readonly tail: boolean;
}

/** Bytes of a frame's fields. */
export function fieldsBytes({ fields }: FrameLayout): number {
  return Object.values(fields).reduce((sum, kind) => sum + fieldBytes[kind], 0);
}

/** What the other end sent does not fit the protocol: it is a liar, or broken, and is not believed any more. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}
