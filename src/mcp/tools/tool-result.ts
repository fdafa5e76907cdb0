import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { GloveboxError, WireError } from "../../errors/glovebox-error.ts";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import type { CallEnd, RunningCall } from "../../calls/running-call.ts";
import { shorten, type Cut } from "./shorten.ts";
import type { ToolImage } from "../../operations/contract/operation-contract.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { leaveOutBytes, pictureType } from "./answers/leave-out-bytes.ts";
import { plainText } from "../../base/plain-text.ts";
import { withPlainTexts } from "./answers/plain-text.ts";
import { withoutPadding } from "./answers/without-padding.ts";
import { viewCall } from "./view-artifact.ts";

/**
 * Maximum characters of an answer to an agent, and of one text in it: clients warn about answers above 10,000 tokens,
 * and the text form repeats the structured form.
 */
const answerLimits = { total: 24_000, text: 8000, stream: 4000 };
/** The same for errors, which may quote the request. */
const errorLimits = { total: 8000, text: 2000 };
/** Maximum base64 characters of all pictures in one answer: what clients pass on to models. */
const maxImageCharacters = 700_000;

/**
 * The answer of a call that has ended: both halves contain all that a model needs, since clients pass on one or the
 * other.
 */
export function toolResult(
  end: CallEnd,
  { tool, call, texts }: { readonly tool: OfferedTool["tool"]; readonly call: RunningCall; readonly texts: KeptTexts },
): CallToolResult {
  if ("error" in end) return errorResult(end.error);
  const source = { id: call.id, principal: call.principal, operation: call.operation };
  const pictures: ToolImage[] = [];
  const readable = leaveOutBytes(end.response, ({ field, base64, mediaType }) => {
    if (pictureType(base64) !== null) pictures.push({ base64, mediaType });
    const uri = texts.store({ field, whole: base64, mediaType }, source);
    return uri === null ? "too long to be kept" : viewCall(uri);
  });
  const { value: shown, cuts } = shorten(withPlainTexts(readable), answerLimits);
  const hasLess = cuts.some(({ unit, field }) => unit === "items" && !/[.[]/.test(field));
  const value = hasLess ? { ...(shown as object), ...tool.readOn?.(shown) } : shown;
  const cutFields = cuts.map((cut) => ({ cut, uri: texts.store(cut, source) }));
  const lines = [tool.text(value), ...cutFields.map(({ cut, uri }) => describeCut(cut, uri) + logsOf(cut, value))];
  const images = fitting(tool.images?.(end.response) ?? pictures);
  return {
    content: [
      { type: "text", text: lines.join("\n") },
      ...images.map(({ base64, mediaType }): ContentBlock => ({ type: "image", data: base64, mimeType: mediaType })),
    ],
    structuredContent: {
      ...withoutPadding(value as object),
      ...(cuts.length === 0 ? {} : { shortened: cutFields.map(shortenedField) }),
    },
  };
}

/** Real pictures only, as many as fit: one that a model's API cannot read ends the conversation. */
function fitting(pictures: readonly ToolImage[]): readonly ToolImage[] {
  let room = maxImageCharacters;
  return pictures.filter(
    ({ base64 }) => pictureType(base64) !== null && base64.length <= room && (room -= base64.length) >= 0,
  );
}

/** The answer of a call that Glovebox refused or failed (SPEC ER1). */
export function errorResult(error: GloveboxError): CallToolResult {
  const wire = shorten(withPlainTexts(error.toWire()), errorLimits).value as WireError;
  return {
    isError: true,
    content: [{ type: "text", text: `${wire.error_type}: ${wire.message}\n${wire.suggestion}` }],
    structuredContent: { error: wire },
  };
}

/** Characters of an answer's texts and pictures; its structured half is about as long as its text. */
export function sizeOfAnswer({ content }: CallToolResult): number {
  return content.reduce(
    (sum, block) => sum + ("text" in block ? 2 * block.text.length : "data" in block ? block.data.length : 0),
    0,
  );
}

/** The answer of a call that continues. */
export function runningResult(call: RunningCall): CallToolResult {
  const seconds = Math.round(call.elapsedMs / 1000);
  const [stdout, stderr] = [plainText(call.stdout.text()), plainText(call.stderr.text())];
  const lines = [
    `Still running after ${seconds} s. To wait for the rest, call ${call.operation} again with {"run_id": "${call.id}"} and nothing else; add "cancel": true to end it.`,
    ...(call.message === null ? [] : [call.message]),
    ...(stdout === "" ? [] : ["stdout, newest part:", stdout]),
    ...(stderr === "" ? [] : ["stderr, newest part:", stderr]),
  ];
  return {
    content: [{ type: "text", text: lines.join("\n") }],
    structuredContent: {
      status: "running",
      run_id: call.id,
      elapsed_seconds: seconds,
      ...(call.sandboxId === null ? {} : { sandbox_id: call.sandboxId }),
      ...(call.message === null ? {} : { progress: call.message }),
      ...(stdout === "" ? {} : { stdout_tail: stdout }),
      ...(stderr === "" ? {} : { stderr_tail: stderr }),
    },
  };
}

function describeCut({ field, unit, kept, total }: Cut, uri: string | null): string {
  const shown = kept === 0 ? "not shown here" : `${kept} of them shown here`;
  const rest = uri === null ? "the rest is too long to be kept" : `all of it for 15 minutes in resource ${uri}`;
  return `${field}: ${total} ${unit}, ${shown}; ${rest}.`;
}

/** How a model continues reading: clients that pass on only text rarely let it read resources. */
function logsOf({ field }: Cut, answer: unknown): string {
  const stream = /^(stdout|stderr)(_tail)?$/.exec(field)?.[1];
  const { sandbox_id: id } = answer as { readonly sandbox_id?: unknown };
  return stream === undefined || typeof id !== "string" ? "" : ` Or read_logs ${JSON.stringify({ id, stream })}.`;
}

function shortenedField({ cut, uri }: { cut: Cut; uri: string | null }): Readonly<Record<string, unknown>> {
  const { field, unit, kept, total } = cut;
  return { field, unit, kept, total, resource: uri };
}
