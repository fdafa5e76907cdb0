import { kibibyte } from "../../base/bytes.ts";
import { HttpRefusal } from "./http-refusal.ts";

/** Largest head of a request to the API, in bytes. */
export const maxHeadBytes: number = 16 * kibibyte;
/**
 * What the parser reads of any head before it knows what the request is for. The heads of previews' pages, with the cookies of
 * a whole site, may have 64 KiB; a little more is read so that their refusal can be the preview's own.
 */
export const maxParsedBytes: number = 80 * kibibyte;

/** For a head that is larger. */
export function headersTooLarge(): HttpRefusal {
  return new HttpRefusal(431, "INVALID_REQUEST", "The address and headers of the request are too large.", {
    suggestion: "Send at most 16 KiB of them to the API, with longer values in the body, and 64 KiB to a preview.",
  });
}
