import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import type { CallEnd, RunningCall } from "../../calls/running-call.ts";
import { shorten, type Cut } from "./shorten.ts";
import type { OfferedTool } from "./offered-tool.ts";

/**
 * Characters of an answer that agents get at once, and of one text in it: clients warn of answers above 10,000 tokens,
 * and the text form repeats what the structured form holds.
 */
const answerLimits = { total: 24_000, text: 8000 };

/** The answer of a call that has ended. */
export function toolResult(
  end: CallEnd,
  { tool, call, texts }: { readonly tool: OfferedTool["tool"]; readonly call: RunningCall; readonly texts: KeptTexts },
): CallToolResult {
  if ("error" in end) return errorResult(end.error);
  const { value, cuts } = shorten(end.response, answerLimits);
  const source = { id: call.id, principal: call.principal, operation: call.operation };
  const cutFields = cuts.map((cut) => ({ cut, uri: texts.store(cut, source) }));
  const lines = [tool.text(value), ...cutFields.map(({ cut, uri }) => describeCut(cut, uri))];
  return {
    content: [
      { type: "text", text: lines.join("\n") },
      ...(tool.images?.(end.response) ?? []).map(({ base64, mediaType }): ContentBlock => ({
        type: "image",
        data: base64,
        mimeType: mediaType,
      })),
      ...cutFields.flatMap(({ cut, uri }): ContentBlock[] =>
        uri === null ? [] : [{ type: "resource_link", uri, name: cut.field, mimeType: cut.mediaType ?? "text/plain" }],
      ),
    ],
    structuredContent: {
      ...withoutNulls(value as object),
      ...(cuts.length === 0 ? {} : { shortened: cutFields.map(shortenedField) }),
    },
  };
}

/** The answer of a call that Glovebox refused or failed (SPEC ER1). */
export function errorResult(error: GloveboxError): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: `${error.errorType}: ${error.message}\n${error.suggestion}` }],
    structuredContent: { error: error.toWire() },
  };
}

/** The answer of a call that goes on. */
export function runningResult(call: RunningCall): CallToolResult {
  const seconds = Math.round(call.elapsedMs / 1000);
  const [stdout, stderr] = [call.stdout.text(), call.stderr.text()];
  const lines = [
    `Still running after ${seconds} s. To wait for the rest, call ${call.operation} again with {"run_id": "${call.id}"} and nothing else; with "cancel": true as well it is ended.`,
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
      stdout_tail: stdout,
      stderr_tail: stderr,
    },
  };
}

/** Null says no more than a field that is not there, which keeps the schema of answers short. */
function withoutNulls(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null));
}

function describeCut({ field, unit, kept, total }: Cut, uri: string | null): string {
  const shown = kept === 0 ? "not shown here" : `${kept} of them shown here`;
  const rest = uri === null ? "the rest is too long to be kept" : `all of it for 15 minutes in resource ${uri}`;
  return `${field}: ${total} ${unit}, ${shown}; ${rest}.`;
}

function shortenedField({ cut, uri }: { cut: Cut; uri: string | null }): Readonly<Record<string, unknown>> {
  const { field, unit, kept, total } = cut;
  return { field, unit, kept, total, resource: uri };
}
