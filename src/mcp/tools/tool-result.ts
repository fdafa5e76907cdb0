import type { CallToolResult, Tool, ContentBlock } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { KeptTexts, ShortenedField } from "../../calls/kept-texts.ts";
import { GloveboxError, type WireError } from "../../errors/glovebox-error.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { jsonSchema } from "./json-schema.ts";
import type { CallEnd, RunningCall } from "../../calls/running-calls.ts";
import type { ToolImage } from "../../operations/contract/operation-contract.ts";
import type { OfferedTool } from "./tool-profiles.ts";
import { plainText } from "../../base/plain-text.ts";

/** Bytes that an answer leaves out, since base64 in JSON is useless to a model. */
interface LeftOutBytes {
  /** Path of the field that held them, such as `artifacts[0].content`. */
  readonly field: string;
  readonly base64: string;
  readonly mediaType: string;
}

/** How the base64 of pictures that models accept begins, by media type. */
const pictureBeginnings: Readonly<Record<string, string>> = {
  "image/png": "iVBORw0KGgo",
  "image/jpeg": "/9j/",
  "image/gif": "R0lGOD",
  "image/webp": "UklGR",
};

const request = z.strictObject({ uri: z.string() });

/** Maximum characters of a text in one answer. */
const maxCharacters = 8000;

/**
 * Shows what an answer left out. Its own answer is content only, without a structured half, so that clients that prefer
 * structured content pass this on, pictures included.
 */
export const viewArtifactTool: Tool = {
  name: "view_artifact",
  title: "View a result file",
  description: "Shows a picture that an answer named by its glovebox:// URI, for 15 minutes.",
  inputSchema: jsonSchema(request, "input") as Tool["inputSchema"],
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

/** @throws INVALID_REQUEST, NOT_FOUND if it is no longer kept, UNSUPPORTED if it is neither picture nor text */
export function viewArtifact(texts: KeptTexts, principal: string, given: unknown): CallToolResult {
  const { uri } = parseRequest({ request }, given);
  const kept = texts.find(uri, principal);
  if (kept === null) {
    throw new GloveboxError("NOT_FOUND", `There is no artifact ${JSON.stringify(uri.slice(0, 200))}.`, {
      suggestion: "Artifacts are kept for 15 minutes; run the program again and take the URI from its answer.",
      context: { field: "uri" },
    });
  }
  const { text, mediaType } = kept;
  if (mediaType === null) return { content: [{ type: "text", text: text.slice(0, maxCharacters) }] };
  const picture = pictureType(text);
  if (picture !== null) {
    // The text is for clients that pass on only text: without it their model would see an empty answer.
    const words = `${kept.field}: ${picture}, ${Buffer.byteLength(text, "base64")} bytes, shown as a picture.`;
    return {
      content: [
        { type: "image", data: text, mimeType: picture },
        { type: "text", text: words },
      ],
    };
  }
  throw new GloveboxError("UNSUPPORTED", `${kept.field} is ${mediaType}, which cannot be shown.`, {
    suggestion:
      "Only PNG, JPEG, GIF and WebP pictures can be shown: read the file in a program and print what it holds.",
    context: { media_type: mediaType },
  });
}

/**
 * Response fields that are hidden from agents: the verdict is in `outcome`, the policy's name is for operators, what an
 * environment was asked for is known, and one of a sandbox's two ids is enough.
 */
export function isForAgents(field: string, siblings: object): boolean {
  if (field === "timed_out" || field === "policy_digest") return false;
  if ((field === "limits" || field === "network") && Object.hasOwn(siblings, "mount_path")) return false;
  if (!Object.hasOwn(siblings, "container_id") || !Object.hasOwn(siblings, "sandbox_id")) return true;
  if (field === "container_id") return !Object.hasOwn(siblings, "session_id");
  // A preview's two ids are the same, and its tools take the container's.
  return field !== "sandbox_id" || !Object.hasOwn(siblings, "url");
}

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

/** What was left out of one field. */
interface Cut extends ShortenedField {
  readonly unit: "characters" | "items";
  readonly kept: number;
  readonly total: number;
}

interface ShortenLimits {
  /** Characters of the whole value as JSON. */
  readonly total: number;
  /** Characters of one text, and a tenth of it items of one list; smaller where the total demands it. */
  readonly text: number;
  /** Characters of the output of a program; default: as of any text. */
  readonly stream?: number;
}

/** Fields that hold what a program wrote. */
const streams: ReadonlySet<string> = new Set(["stdout", "stderr", "stdout_tail", "stderr_tail", "output", "logs"]);

/** Share of a text's room that goes to its beginning; the rest goes to its end. */
const headShare = 0.6;
/** Below it nothing is shortened further. */
const minText = 100;

/** A response whose long texts keep their head and tail, and whose long lists keep their first items. */
export function shorten(
  value: unknown,
  { total, text, stream = text }: ShortenLimits,
): { readonly value: unknown; readonly cuts: readonly Cut[] } {
  for (let room = text; ; room = Math.floor(room / 2)) {
    const cuts: Cut[] = [];
    const shortened = shortenPart(value, "", { room, stream: Math.min(room, stream) }, cuts);
    if (room < minText || JSON.stringify(shortened).length <= total) return { value: shortened, cuts };
  }
}

interface Rooms {
  readonly room: number;
  readonly stream: number;
}

/** The value with all texts plain, except the content of files, which is unchanged. */
export function withPlainTexts(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(withPlainTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "content" ? part : withPlainTexts(part)]),
  );
}

/** Included only if true. */
const whereTrue: ReadonlySet<string> = new Set(["truncated", "read_only", "variables_lost"]);
/** Included only if not empty. */
const whereFilled: ReadonlySet<string> = new Set([
  "stdout",
  "stderr",
  "stdout_tail",
  "stderr_tail",
  "output",
  "warnings",
  "alerts",
  "tooling_files",
  "packages_installed",
  "displays",
]);

/** An answer without fields that are false, empty or redundant; an answer's only field is always kept. */
export function withoutPadding(answer: object): object {
  const { container_id: id } = answer as { readonly container_id?: unknown };
  const entries = Object.entries(answer).map(([field, value]): [string, unknown] => {
    if (!Array.isArray(value)) return [field, value];
    return [field, id === undefined ? value : value.map((row: unknown) => withoutId(row, id))];
  });
  if (entries.length < 2) return answer;
  return Object.fromEntries(entries.filter(([field, value]) => isForAgents(field, answer) && !isPadding(field, value)));
}

/** A row of an answer that names the sandbox once for all rows. */
function withoutId(row: unknown, id: unknown): unknown {
  if (typeof row !== "object" || row === null || (row as { readonly container_id?: unknown }).container_id !== id) {
    return row;
  }
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== "container_id"));
}

function isPadding(field: string, value: unknown): boolean {
  if (value === null) return true;
  if (value === false) return whereTrue.has(field);
  if (value === 0) return field.endsWith("_dropped_bytes");
  return whereFilled.has(field) && (value as { readonly length?: number }).length === 0;
}

/** The kind of picture, from its first bytes; null if models do not accept it. */
function pictureType(base64: string): string | null {
  const found = Object.entries(pictureBeginnings).find(([, beginning]) => base64.startsWith(beginning));
  return found?.[0] ?? null;
}

/** The value with each base64 content replaced by `words`. */
function leaveOutBytes(value: unknown, words: (bytes: LeftOutBytes) => string, field = ""): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => leaveOutBytes(item, words, `${field}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return value;
  const owner = value as Readonly<Record<string, unknown>>;
  const { encoding, content, media_type: mediaType } = owner;
  const path = (key: string): string => (field === "" ? key : `${field}.${key}`);
  if (encoding === "base64" && typeof content === "string" && content !== "") {
    const told = typeof mediaType === "string" ? mediaType : "application/octet-stream";
    const bytes = { field: path("content"), base64: content, mediaType: pictureType(content) ?? told };
    return { ...owner, content: words(bytes) };
  }
  return Object.fromEntries(Object.entries(owner).map(([key, part]) => [key, leaveOutBytes(part, words, path(key))]));
}

/** How a model requests something that an answer left out. */
function viewCall(uri: string): string {
  return `${viewArtifactTool.name} ${JSON.stringify({ uri })}`;
}

/** Real pictures only, as many as fit: one that a model's API cannot read ends the conversation. */
function fitting(pictures: readonly ToolImage[]): readonly ToolImage[] {
  let room = maxImageCharacters;
  return pictures.filter(
    ({ base64 }) => pictureType(base64) !== null && base64.length <= room && (room -= base64.length) >= 0,
  );
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

function shortenPart(value: unknown, field: string, rooms: Rooms, cuts: Cut[]): unknown {
  const { room } = rooms;
  if (typeof value === "string") return shortenText(value, field, streams.has(field) ? rooms.stream : room, cuts);
  if (Array.isArray(value)) {
    const kept = Math.max(1, Math.floor(room / 10));
    if (value.length > kept) {
      const whole = JSON.stringify(value, null, 1);
      cuts.push({ field, unit: "items", kept, total: value.length, whole, mediaType: null });
    }
    return value.slice(0, kept).map((item, index) => shortenPart(item, `${field}[${index}]`, rooms, cuts));
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => {
    const path = field === "" ? key : `${field}.${key}`;
    return [key, shortenPart(part, path, rooms, cuts)];
  });
  return Object.fromEntries(entries);
}

function shortenText(text: string, field: string, room: number, cuts: Cut[]): string {
  if (text.length <= room) return text;
  // For a tail, the end matters.
  const share = field.endsWith("_tail") ? 0 : headShare;
  const headEnd = wholeCharacters(text, Math.floor(room * share));
  const tailStart = wholeCharacters(text, text.length - Math.floor(room * (1 - share)));
  const left = tailStart - headEnd;
  const kept = text.length - left;
  cuts.push({ field, unit: "characters", kept, total: text.length, whole: text, mediaType: null });
  return `${text.slice(0, headEnd)}\n[... ${left} characters left out ...]\n${text.slice(tailStart)}`;
}

/** The index, or the one before it if it would split a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff ? index - 1 : index;
}
