/** How the answer of a run is wanted: whole at its end, a place to ask for it at once, or its events as they happen. */
export type AnswerForm = "whole" | "async" | StreamFormat;
export type StreamFormat = "event-stream" | "ndjson";

/** The headers in which a client says what it wants. */
export interface PreferenceHeaders {
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

/** Of the forms that are accepted, the one with the highest weight, the first of equals; default: whole. */
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
