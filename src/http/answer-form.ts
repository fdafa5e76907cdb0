/** How a client wants a run's answer: complete at the end, immediately as a URL to query, or as a stream of events. */
export type AnswerForm = "whole" | "async" | StreamFormat;
export type StreamFormat = "event-stream" | "ndjson";

/** The headers with which a client chooses. */
interface PreferenceHeaders {
  readonly accept?: string | undefined;
  readonly prefer?: string | readonly string[] | undefined;
}

const formOf: Readonly<Record<string, "whole" | StreamFormat>> = {
  "application/json": "whole",
  "application/*": "whole",
  "*/*": "whole",
  "text/event-stream": "event-stream",
  "application/x-ndjson": "ndjson",
};

/** Of the accepted forms, the one with the highest weight, the first among equals; default: complete. */
export function answerForm({ accept = "", prefer }: PreferenceHeaders): AnswerForm {
  const preferences = (typeof prefer === "string" ? [prefer] : (prefer ?? [])).join(",").split(/[,;]/);
  if (preferences.some((each) => each.trim().toLowerCase() === "respond-async")) return "async";
  let [best, weight]: [AnswerForm, number] = ["whole", 0];
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const form = formOf[type];
    const q = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    if (form !== undefined && q > weight) [best, weight] = [form, q];
  }
  return best;
}

/** Content as it is. */
export const bytesType = "application/octet-stream";

/** Whether a client asks for bytes by name, rather than for JSON; the type that it weighs most counts, the first among equals. */
export function acceptsBytes({ accept = "" }: { readonly accept?: string | undefined }): boolean {
  let [isBytes, weight] = [false, 0];
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const q = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    if (type !== "" && q > weight) [isBytes, weight] = [type === bytesType, q];
  }
  return isBytes;
}
