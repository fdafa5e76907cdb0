import { plainText } from "../../../base/plain-text.ts";
import type { Redaction } from "../../../policy/redaction.ts";
import type { CallException } from "./read-report.ts";

/** Control characters, except tab and the end of a line. */
// oxlint-disable-next-line no-control-regex -- they are what is taken out
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** An exception in the program's words, as callers may show it: as plain text, without secrets. */
export function plainException({ name, value, traceback }: CallException, redaction: Redaction): CallException {
  const plain = (text: string): string => plainText(redaction.text(text)).replace(controls, "").toWellFormed();
  return { name: plain(name).replace(/\s+/g, " "), value: plain(value), traceback: plain(traceback) };
}
