/**
 * The egress proxy's own process: what sandboxes and far sides send is parsed here and nowhere else. Started by
 * `startProxyChild`, which limits it; it gives root up before it reads any of that, and ends with its parent. What nobody
 * foresaw ends it: its runs are told, and the next one gets another.
 */
import { createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { getCACertificates } from "node:tls";
import { parseAddressRange, type AddressRange } from "../../policy/network/ip-address.ts";
import type { EgressPolicy } from "../../policy/network/egress-policy.ts";
import type { UpstreamProxy } from "../../policy/network/upstream-proxy.ts";
import { askFileHosts } from "./ask-file-hosts.ts";
import { ProxyChannel } from "./proxy-channel.ts";
import type { FromProxy, ToProxy } from "../proxy-messages.ts";
import { createResolver, WayOut, type Resolve } from "./way-out.ts";

interface Part {
  policy: EgressPolicy;
  /** Null before its channel is there. */
  open: { readonly socket: Socket; readonly channel: ProxyChannel } | null;
}

const tokenBytes = 64;
const tokenMs = 5_000;
/** Other users of the machine can connect too, but must not keep others out. */
const maxStrangers = 256;
/** The user that owns nothing on most systems. */
const nobody = 65_534;

/** Tokens of channels that have not connected yet, with their names. */
const expected = new Map<string, string>();
const parts = new Map<string, Part>();
let resolve: Resolve = createResolver([]);
let hostAddresses: readonly AddressRange[] = [];
let wayOut = wayOutThrough(null);
/** Channels that have not sent their token yet, the oldest first. */
const strangers = new Set<Socket>();

function tell(message: FromProxy): void {
  process.send?.(message);
}

function hear(message: ToProxy): void {
  switch (message.type) {
    case "start":
      resolve = createResolver(message.dnsServers);
      hostAddresses = rangesOf(message.hostAddresses);
      wayOut = wayOutThrough(message.upstream);
      return listen(message.path);
    case "open":
      expected.set(message.token, message.channel);
      return void parts.set(message.channel, { policy: message.policy, open: null });
    case "change":
      changePolicy(message.channel, message.policy);
      return tell({ type: "answer", number: message.number, hosts: [] });
    case "close":
      expected.forEach((name, token) => name === message.channel && expected.delete(token));
      parts.get(message.channel)?.open?.socket.destroy();
      return void parts.delete(message.channel);
    case "flush":
      return tell({ type: "answer", number: message.number, hosts: [] });
    case "ask": {
      const { number, registry } = message;
      return void askFileHosts(registry, { resolve, wayOut }).then((hosts) => tell({ type: "answer", number, hosts }));
    }
  }
}

function listen(path: string): void {
  createServer(receive).listen(path, () => {
    // The certificates first: reading them may need a right that is given up later.
    const certificates = [...new Set(getCACertificates("default"))].join("\n");
    giveUpRoot();
    tell({ type: "started", certificates });
  });
}

function giveUpRoot(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(nobody);
  process.setuid?.(nobody);
}

function rangesOf(texts: readonly string[]): AddressRange[] {
  return texts.flatMap((text) => parseAddressRange(text) ?? []);
}

/** The addresses of this machine: those that it was told, and the current ones of its interfaces. */
function ownAddresses(): readonly AddressRange[] {
  const rows = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return [...hostAddresses, ...rangesOf(rows.map(({ address }) => address))];
}

function wayOutThrough(upstream: UpstreamProxy | null): WayOut {
  return new WayOut({
    upstream,
    resolve: createResolver([]),
    ownAddresses,
    onTrouble: (reason) => tell({ type: "trouble", reason }),
  });
}

function changePolicy(name: string, policy: EgressPolicy): void {
  const part = parts.get(name);
  if (part === undefined) return;
  part.policy = policy;
  part.open?.channel.change(policy);
}

function openChannel(name: string, socket: Socket): void {
  const part = parts.get(name);
  if (part === undefined) return void socket.destroy();
  const channel = ProxyChannel.serve({
    socket,
    policy: part.policy,
    resolve: (host) => resolve(host),
    ownAddresses,
    wayOut,
    onDenied: (denial) => tell({ type: "denied", channel: name, denial }),
  });
  part.open = { socket, channel };
  socket.once("close", () => (part.open = null));
}

/** A channel begins with its token, which is valid once. */
function receive(socket: Socket): void {
  const [oldest] = strangers;
  if (strangers.size >= maxStrangers) oldest?.destroy();
  strangers.add(socket);
  const timer = setTimeout(() => socket.destroy(), tokenMs);
  socket.on("error", () => {
    // Its close follows.
  });
  socket.once("close", () => {
    clearTimeout(timer);
    strangers.delete(socket);
  });
  socket.on("readable", function read() {
    const bytes = socket.read(tokenBytes) as Buffer | null;
    if (bytes === null) return;
    clearTimeout(timer);
    strangers.delete(socket);
    socket.off("readable", read);
    const token = bytes.toString("latin1");
    const name = expected.get(token);
    expected.delete(token);
    if (name === undefined) socket.destroy();
    else openChannel(name, socket);
  });
}

process.on("message", hear);
process.on("disconnect", () => process.exit(0));
// Asked for by a terminal of the whole process group; the parent ends first and this process with it.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
