import type { IncomingMessage } from "node:http";

type Head = Pick<IncomingMessage, "method" | "url" | "rawHeaders">;

/** Size of a request's head in bytes, with one line for each header, as it was sent. */
export function headBytes({ method = "", url = "", rawHeaders }: Head): number {
  const line = `${method} ${url} HTTP/1.1\r\n`.length;
  // Two characters between a name and its value, two behind that, and two at the end.
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, line + 2);
}

/** How many Host headers a request has: two readers could choose different ones of several. */
export function hostCount({ rawHeaders }: Pick<Head, "rawHeaders">): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length;
}
