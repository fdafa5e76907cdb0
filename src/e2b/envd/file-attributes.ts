/** Attributes of a file by their name: what E2B calls its metadata. */
export type FileAttributes = Readonly<Record<string, string>>;

/** The extended attributes that are shown: those with this prefix, which is left out. */
export const attributePrefix = "user.e2b.";

/** Names and values of one file, together. */
export const maxAttributeBytes = 4096;

/** What the tool told of a file's attributes; what it cannot have told is left out. */
export function parseAttributes(text: string): FileAttributes {
  if (text.length > 4 * maxAttributeBytes || !/^(?:[\w.-]|%[0-9A-F]{2}|=|&)*$/.test(text)) return {};
  const pairs = text.split("&").flatMap((pair) => {
    const [name = "", value, more] = pair.split("=");
    return name === "" || value === undefined || more !== undefined ? [] : [[plain(name), plain(value)] as const];
  });
  return Object.fromEntries(pairs);
}

/** Bytes that are no UTF-8 become the sign for that. */
function plain(escaped: string): string {
  const bytes = escaped.replaceAll(/%(..)/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
