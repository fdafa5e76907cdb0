import { chartMediaType, tableMediaType } from "../../../operations/contract/wire-values.ts";
import { z } from "zod";
import { mebibyte } from "../../../base/bytes.ts";
import { plainText } from "../../../base/plain-text.ts";
import type { Redaction } from "../../../policy/redaction.ts";

/** What a call shows beside its output: the value of its last expression, plots, and what it was told to display. */
export interface Display {
  /** Which of the values that were shown it is a form of, from 0. */
  readonly value: number;
  /** Whether that is the value of the last expression. */
  readonly isResult: boolean;
  readonly mediaType: string;
  readonly encoding: "utf8" | "base64";
  readonly content: string;
}

/** The exception that ended a call. */
export interface CallException {
  readonly name: string;
  /** Its message. */
  readonly value: string;
  /** As it was shown on standard error. */
  readonly traceback: string;
}

/** How a call ended. */
export interface CallReport {
  readonly exitCode: number;
  readonly displays: readonly Display[];
  /** Null for a call that came to its end or has left by `exit`. */
  readonly exception: CallException | null;
}

/** Bytes of a report; its interpreter keeps below that. */
export const maxReportBytes: number = 16 * mebibyte;
/** Digits of its length, with the end of the line. */
const maxLengthDigits = 10;
/** Characters of an exception's parts; its interpreter keeps to fewer, of which each may be two here. */
const maxException = { name: 400, value: 8_000, traceback: 32_000 };

const report = z.strictObject({
  exit_code: z.int().min(0).max(255),
  displays: z
    .array(
      z.strictObject({
        value: z.int().min(0),
        is_result: z.boolean(),
        media_type: z.enum([
          "text/plain",
          "text/html",
          "text/markdown",
          "text/latex",
          "application/json",
          "image/svg+xml",
          "image/png",
          "image/jpeg",
          chartMediaType,
          tableMediaType,
        ]),
        encoding: z.enum(["utf8", "base64"]),
        content: z.string(),
      }),
    )
    .max(200),
  exception: z
    .strictObject({
      name: z.string().max(maxException.name),
      value: z.string().max(maxException.value),
      traceback: z.string().max(maxException.traceback),
    })
    .nullable(),
});

/**
 * The report at the beginning of the bytes, and what comes behind it; null while more is to come, `false` for what can be none.
 * What the program's interpreter says is the program's: it is believed to be of this form, and no more.
 */
export function readReport(bytes: Buffer): { readonly report: CallReport; readonly behind: Buffer } | null | false {
  const lineEnd = bytes.indexOf(0x0a);
  if (lineEnd === -1) return bytes.length < maxLengthDigits ? null : false;
  const digits = bytes.subarray(0, lineEnd).toString("latin1");
  const length = /^\d{1,9}$/.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
  if (length > maxReportBytes) return false;
  const end = lineEnd + 1 + length;
  if (bytes.length < end) return null;
  const parsed = report.safeParse(jsonOf(bytes.subarray(lineEnd + 1, end).toString("utf8")));
  if (!parsed.success) return false;
  const { exit_code: exitCode, displays, exception } = parsed.data;
  return {
    report: {
      exitCode,
      displays: displays.map(({ media_type: mediaType, is_result: isResult, ...rest }) => ({
        mediaType,
        isResult,
        ...rest,
      })),
      exception,
    },
    behind: bytes.subarray(end),
  };
}

/** Reads a report that comes in pieces, however small: they are joined when all of it has come. */
export class ReportReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #neededBytes = 0;

  /** As `readReport`, of all pieces until now. */
  take(piece: Buffer): ReturnType<typeof readReport> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < this.#neededBytes) return null;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    const read = readReport(bytes);
    const lineEnd = bytes.indexOf(0x0a);
    if (read === null && lineEnd !== -1) this.#neededBytes = lineEnd + 1 + Number(bytes.toString("latin1", 0, lineEnd));
    return read;
  }
}

/** Control characters, except tab and the end of a line. */
// oxlint-disable-next-line no-control-regex -- they are what is taken out
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** An exception in the program's words, as callers may show it: as plain text, without secrets. */
export function plainException({ name, value, traceback }: CallException, redaction: Redaction): CallException {
  const plain = (text: string): string => plainText(redaction.text(text)).replace(controls, "").toWellFormed();
  return { name: plain(name).replace(/\s+/g, " "), value: plain(value), traceback: plain(traceback) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
