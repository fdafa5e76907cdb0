const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What makes URL parsers read a whole name as an IPv4 address: decimal, octal or hexadecimal, in one to four parts. */
const number = /^(?:\d+|0x[0-9a-f]*)$/;
const longestName = 253;

/**
 * The one spelling of a DNS name: lower case, labels of letters, digits and hyphens; null for everything else.
 *
 * Everything else is: addresses in any notation, empty labels and so a trailing dot, underscores, NUL, percent signs, and
 * characters beyond ASCII. An internationalised name counts in its ASCII form, `xn--`.
 */
export function canonicalName(text: string): string | null {
  if (text.length === 0 || text.length > longestName) return null;
  const name = lowerAscii(text);
  const labels = name.split(".");
  const isName = labels.every((each) => label.test(each)) && !number.test(labels.at(-1) ?? "");
  return isName ? name : null;
}

/** `toLowerCase` would turn some letters beyond ASCII into ASCII ones. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
