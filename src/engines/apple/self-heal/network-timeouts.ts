/**
 * Words of errors that a network gives that is there and lets nothing through, as it is in virtual machines after their
 * host has slept or changed its address; with the program or library whose words they are.
 */
export const networkTimeouts: readonly { readonly pattern: RegExp; readonly source: string }[] = [
  { pattern: /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b/, source: "Node, libuv" },
  { pattern: /\b(?:EHOSTUNREACH|ENETUNREACH)\b/, source: "Node, libuv" },
  {
    pattern: /\bUND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT\b|\bConnect Timeout Error\b/i,
    source: "undici, Node's fetch",
  },
  { pattern: /\bAPIConnectionTimeoutError\b|\bRequest timed out\b/i, source: "clients of model providers" },
  { pattern: /\bconnection timed out\b|\bconnect(?:ion)? time-?out\b/i, source: "the C library, git, ssh, curl" },
  { pattern: /\bnetwork is unreachable\b|\bno route to host\b/i, source: "the C library" },
  { pattern: /\boperation timed out\b|\btimed out after \d+ milliseconds\b/i, source: "curl, macOS" },
  { pattern: /\bi\/o timeout\b|\bTLS handshake timeout\b/i, source: "Go" },
  {
    pattern: /\b(?:Connect|Read)TimeoutError\b|\bConnectTimeout\b|\bReadTimeout\b/,
    source: "urllib3, requests, httpx",
  },
  {
    pattern: /\bHTTPClientError\.(?:connectTimeout|deadlineExceeded|readTimeout)\b/,
    source: "Apple's container command",
  },
  { pattern: /\bNSURLErrorDomain\b.{0,400}-1001\b|\bkCFErrorDomain\w{0,40}\b.{0,400}-1001\b/, source: "macOS" },
];

/** Longest end of a text that is examined: what a program writes first is not why it ended. */
const maxChars = 16_384;

export function looksLikeNetworkTimeout(text: string): boolean {
  const tail = text.slice(-maxChars);
  return networkTimeouts.some(({ pattern }) => pattern.test(tail));
}
