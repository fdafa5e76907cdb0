import { styleText } from "node:util";
import type { OutputStream, CommandIo } from "../command-io.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { withOptionWords } from "./option-words.ts";
import { escapeLine } from "./terminal-text.ts";

/** The text in a colour if the stream supports it: on a terminal, unless `NO_COLOR` or `FORCE_COLOR` say otherwise. */
export function coloured(text: string, format: "red" | "green" | "yellow", stream: OutputStream): string {
  return styleText(format, text, { stream });
}

/** Reports what went wrong and what to do: for programs one JSON object, for people two lines on stderr. */
export function reportError(
  error: GloveboxError,
  { io, json }: { readonly io: CommandIo; readonly json: boolean },
): void {
  if (json) {
    io.stdout.write(`${JSON.stringify({ error: error.toWire() })}\n`);
    return;
  }
  io.stderr.write(describeError(error.toWire(), { stream: io.stderr }));
}

/** A refused connection in one line. */
export function describeDenial({ target, reason, remedy }: Denial): string {
  return `${escapeLine(`glovebox: refused a connection to ${target}: ${reason} ${withOptionWords(remedy, null)}`)}\n`;
}

/**
 * An error in the two lines that the command line prints; text from sandboxes and engines is made harmless. It comes last,
 * below whatever the program wrote: what would help is said there even if it was said before, then in the same line.
 *
 * @param options.stream where it is printed, which may take colours; default: one that does not
 * @param options.shown sentences that the user has already seen: left out of the message
 */
export function describeError(
  error: { readonly message: string; readonly suggestion: string; readonly error_type: string },
  { stream, shown = new Set() }: { readonly stream?: OutputStream; readonly shown?: ReadonlySet<string> } = {},
): string {
  const kind = stream === undefined ? error.error_type : coloured(error.error_type, "red", stream);
  const seen = [...shown].find((sentence) => error.message.includes(` ${sentence}`));
  const message = seen === undefined ? error.message : error.message.replace(` ${seen}`, () => "");
  const advice = withOptionWords(error.suggestion, null);
  const isOneLine = shown.has(error.suggestion) && !message.includes("\n");
  return `glovebox: ${kind}: ${escapeLines(message)}${isOneLine ? " " : "\n  "}${escapeLines(advice)}\n`;
}

/** Indents further lines, so that none of them looks like one of ours. */
function escapeLines(text: string): string {
  return text.split("\n").map(escapeLine).join("\n    ");
}
