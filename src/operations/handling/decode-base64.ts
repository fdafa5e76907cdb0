import { invalidField } from "../../errors/glovebox-error.ts";

/** Both alphabets, and an end that may be padded. */
const form = /^[\w+/-]*={0,2}$/;

/**
 * The bytes of a text in base64, whose lines may be broken. `Buffer.from` alone would skip what is none, and decode a plain
 * text to nonsense.
 * @throws INVALID_REQUEST naming the field
 */
export function decodeBase64(text: string, field: string): Buffer {
  const written = text.replaceAll(/\s/g, "");
  // Four characters are three bytes, so a rest of one is none; and padding fills four up, if it is there.
  const padding = written.endsWith("==") ? 2 : written.endsWith("=") ? 1 : 0;
  const rest = (written.length - padding) % 4;
  if (form.test(written) && rest !== 1 && (padding === 0 || padding + rest === 4))
    return Buffer.from(written, "base64");
  throw invalidField(field, "base64, as its encoding says", "something else");
}
