import { styleText } from "node:util";
import type { OutputStream } from "./program-output.ts";

/** The text in a colour if the stream supports it: on a terminal, unless `NO_COLOR` or `FORCE_COLOR` say otherwise. */
export function coloured(text: string, format: "red" | "green" | "yellow", stream: OutputStream): string {
  return styleText(format, text, { stream });
}
