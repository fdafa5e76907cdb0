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
