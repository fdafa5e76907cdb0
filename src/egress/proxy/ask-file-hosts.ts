import { get as httpGet, type IncomingMessage } from "node:http";
import { get as httpsGet } from "node:https";
import type { Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { untilCancelled } from "../../base/abort.ts";
import { hostOf, type HostAndPort } from "../../policy/network/domain-names.ts";
import type { Registry } from "../proxy-messages.ts";
import type { Resolve, WayOut } from "./way-out.ts";

const answerMs = 3_000;
const maxBytes = 4 * 1024 * 1024;
const maxRedirects = 3;

/** For each kind of registry a page that names files, of a package that nearly every registry has. */
const pages = {
  npm: { path: "npm/latest", accept: "application/json" },
  python: { path: "pip/", accept: "application/vnd.pypi.simple.v1+json, text/html;q=0.5" },
} as const;

/** Addresses of files on such a page: an npm tarball, or a link of a Python index in JSON or HTML. */
const fileUrls = /(?:"tarball"\s*:\s*|"url"\s*:\s*|href\s*=\s*)"(https?:\/\/[^"\s]+)"/g;

/** How a registry is reached: the operator chose it, so its addresses are not checked. */
export interface AskOptions {
  readonly resolve: Resolve;
  readonly wayOut: WayOut;
}

/** Hosts other than its own that a registry sends its clients to; none if it does not answer or name any. */
export async function askFileHosts({ kind, url }: Registry, options: AskOptions): Promise<readonly HostAndPort[]> {
  const found: string[] = [];
  try {
    const base = url.endsWith("/") ? url : `${url}/`;
    const { text, urls } = await read(new URL(pages[kind].path, base), pages[kind].accept, options);
    found.push(...urls, ...[...text.matchAll(fileUrls)].map(([, file = ""]) => file));
  } catch {
    // A registry that does not answer now is itself still allowed.
  }
  const hosts = found.flatMap((file) => hostOf(file) ?? []);
  return hosts.filter((host, index) => hosts.findIndex((other) => isSame(host, other)) === index);
}

function isSame(one: HostAndPort, other: HostAndPort): boolean {
  return one.name === other.name && one.port === other.port;
}

/** The page, and where redirects led. */
async function read(
  url: URL,
  accept: string,
  options: AskOptions,
): Promise<{ readonly text: string; readonly urls: readonly string[] }> {
  const urls: string[] = [];
  const signal = AbortSignal.timeout(answerMs);
  let next = url;
  for (let tries = 0; tries <= maxRedirects; tries++) {
    const answer = await request(next, accept, { ...options, signal });
    const { location } = answer.headers;
    if (location === undefined) return { text: await textOf(answer), urls };
    answer.destroy();
    next = new URL(location, next);
    urls.push(next.href);
  }
  return { text: "", urls };
}

async function request(
  url: URL,
  accept: string,
  { signal, ...options }: AskOptions & { readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const target = hostOf(url.href);
  if (target === null) throw new Error("no name");
  const reached = await untilCancelled(reach(target, options, signal), signal);
  const isSecure = url.protocol === "https:";
  const socket = isSecure ? connectSecurely({ socket: reached, servername: target.name }) : reached;
  return new Promise((done, reject) => {
    const headers = { accept, "user-agent": "glovebox" };
    (isSecure ? httpsGet : httpGet)(url, { headers, createConnection: () => socket, signal }, done).on("error", reject);
  });
}

async function reach(target: HostAndPort, { resolve, wayOut }: AskOptions, signal: AbortSignal): Promise<Socket> {
  const trouble = await wayOut.prepare();
  if (trouble !== null) throw new Error(trouble);
  const addresses = await resolve(target.name).catch(() => []);
  const byName = addresses.length === 0 && wayOut.takesName(target);
  const reached = byName ? await wayOut.connectByName(target) : await wayOut.connect(target, addresses);
  if ("failed" in reached) throw new Error(reached.failed);
  const { socket } = reached;
  const end = (): void => void socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return socket;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
