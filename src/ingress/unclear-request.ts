import type { IncomingMessage } from "node:http";
import { hostCount } from "../base/http/request-head.ts";

/** Whether two readers could understand a request line, its Host or its framing differently. */
export function isUnclear({ url = "", rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (!url.startsWith("/") || hostCount({ rawHeaders }) !== 1) return true;
  const isOld = httpVersion !== "1.1" && headers["transfer-encoding"] !== undefined;
  return isOld || isOddlyFramed({ headers });
}

/**
 * Whether a body is coded in another way than in chunks: two readers could see its end in different places. Node's parser has
 * refused one that has a length besides.
 */
export function isOddlyFramed({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const encoding = headers["transfer-encoding"];
  return encoding !== undefined && encoding.toLowerCase() !== "chunked";
}
