import { tokenForm } from "../base/id.ts";

/** A host by which a preview is asked for. */
export interface PreviewHost {
  readonly token: string;
  /** As it was sent, in lower case and with its port: what a page of that origin calls itself. */
  readonly authority: string;
  /** What the name ends in: `localhost`, or the operator's domain. */
  readonly domain: string;
}

/**
 * Reads `TOKEN.DOMAIN` with or without a port; null for every other host, one with further labels, an address or a final
 * dot included. Whether there is a preview with that token is for the caller to find out.
 */
export function readPreviewHost(host: string | undefined, domains: readonly string[]): PreviewHost | null {
  const authority = (host ?? "").toLowerCase();
  const [, token, domain] = /^([^.:]+)\.([a-z0-9.-]+)(?::\d{1,5})?$/.exec(authority) ?? [];
  if (token === undefined || domain === undefined || !tokenForm.test(token) || !domains.includes(domain)) return null;
  return { token, authority, domain };
}

/** Whether a host names this machine's loopback at that port, as the listener of one preview is reached. */
export function isDirectHost(host: string | undefined, port: number): boolean {
  const authority = (host ?? "").toLowerCase();
  return ["127.0.0.1", "localhost", "[::1]"].some((name) => authority === `${name}:${port}`);
}
