import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/domain-names.ts";
import type { UpstreamProxy } from "../policy/network/upstream-proxy.ts";
import type { FromProxy, Registry, ToProxy } from "./proxy-messages.ts";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the proxy's process is made of. */
interface ProxyChildOptions {
  readonly platform: NodeJS.Platform;
  readonly node: {
    readonly executable: string;
    /** Those that it knows; newer ones cut programs off from the network unless told otherwise. */
    readonly flags: ReadonlySet<string>;
  };
  /** The host's variables that say which certificates it trusts; nothing else of its environment is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Names of variables from which Node and OpenSSL read certificates. */
const certificateVariables = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const maxHeapMegabytes = 256;
/** Writable memory: the heap, buffers, and what the interpreter itself needs. */
const maxDataKilobytes = 1_572_864;
const maxDescriptors = 4_096;

/** Descriptors that are given something empty: whoever started us may have left some open in us, and so in what we start. */
const maxInherited = 64;
/**
 * Run by `sh` before the interpreter: limits that the process cannot lift, and no way to more rights by a setuid file. A
 * limit that is refused stays as it was.
 */
const confine = `
ulimit -c 0; ulimit -f 0; ulimit -d ${maxDataKilobytes}; ulimit -n ${maxDescriptors}
if setpriv --no-new-privs true; then exec setpriv --no-new-privs "$@"; fi
exec "$@"
`;

/** File and arguments of the proxy's process. */
export function proxyCommand(
  { platform, node }: Pick<ProxyChildOptions, "platform" | "node">,
  { script, sources }: { readonly script: string; readonly sources: string },
): readonly [file: string, ...args: string[]] {
  const command = [
    ...["--permission", ...(node.flags.has("--allow-net") ? ["--allow-net"] : []), `--allow-fs-read=${sources}`],
    ...["--use-system-ca", "--no-warnings", "--disallow-code-generation-from-strings"],
    ...[`--max-old-space-size=${maxHeapMegabytes}`, script],
  ];
  if (platform !== "linux") return [node.executable, ...command];
  return ["/bin/sh", "-c", confine, "sh", node.executable, ...command];
}

/**
 * Starts the proxy's process, with a channel for messages. What holds it are its user (it gives root up before it reads
 * from a sandbox), the limits above and an environment of nothing; Node's permission model is one more layer, and nothing
 * depends on it.
 */
function startProxyChild(options: ProxyChildOptions): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const script = fileURLToPath(new URL(isSource ? "./proxy/proxy-main.ts" : "./proxy/proxy-main.js", import.meta.url));
  const sources = fileURLToPath(new URL("../", import.meta.url));
  const [file, ...args] = proxyCommand(options, { script, sources });
  const known = certificateVariables.map((name) => [name, options.environment[name]] as const);
  const nothing = options.platform === "win32" ? null : openSync("/dev/null", "r");
  try {
    return spawn(file, args, {
      env: Object.fromEntries(known.filter(([, value]) => value !== undefined)),
      cwd: sources,
      stdio: [
        "ignore",
        "ignore",
        "pipe",
        "ipc",
        ...Array<number | "ignore">(maxInherited - 4).fill(nothing ?? "ignore"),
      ],
      serialization: "json",
      // Not in our process group: we handle a terminal's Ctrl-C ourselves.
      detached: true,
    });
  } finally {
    if (nothing !== null) closeSync(nothing);
  }
}

interface ProxyAddressOptions {
  readonly platform: NodeJS.Platform;
  /** Where we may create temporary files. */
  readonly temporaryDirectory: string;
}

/**
 * Address, with that name, at which the proxy's process accepts channels, reachable only on this machine: on Linux an
 * abstract socket, which leaves nothing behind, on Windows a pipe, elsewhere a socket in the temporary folder.
 */
export function proxyAddress(name: string, { platform, temporaryDirectory }: ProxyAddressOptions): string {
  if (platform === "linux") return `\0${name}`;
  return platform === "win32" ? `\\\\.\\pipe\\${name}` : `${temporaryDirectory}/${name}.sock`;
}

export interface ProxyProcessOptions extends ProxyChildOptions {
  /** Where we may create temporary files. */
  readonly temporaryDirectory: string;
  /** DNS servers; empty: the host's own. */
  readonly dnsServers: readonly string[];
  /** Addresses and ranges of this machine in addition to those of its interfaces. */
  readonly hostAddresses: readonly string[];
  /** The upstream proxy for outgoing connections; null: direct. */
  readonly upstream: UpstreamProxy | null;
  readonly logger: Logger;
}

/** Events of one channel's part of the proxy. */
export interface ChannelListener {
  readonly onDenied: (denial: Extract<FromProxy, { type: "denied" }>["denial"]) => void;
}

const startMs = 20_000;
const askMs = 20_000;
const flushMs = 2_000;
const changeMs = 5_000;
/** How often a process in use is pinged, and how long its answer may take. */
const watchEveryMs = 5_000;
const aliveMs = 20_000;
const maxLogged = 2_000;
/** Maximum length of the reason why the upstream proxy failed. */
const maxReason = 400;
const tokenCharacters = 64;

type Answer = readonly HostAndPort[];

/** One life of the egress proxy's process. */
export class ProxyProcess {
  readonly #child: ChildProcess;
  readonly #path: string;
  readonly #watch: NodeJS.Timeout;
  readonly #listeners = new Map<string, ChannelListener>();
  readonly #answers = new Map<number, (hosts: Answer) => void>();
  #asked = 0;
  #isAsked = false;
  /** Whether the upstream proxy has failed since the last health check. */
  #isTroubled = false;
  readonly #logger: Logger;
  /** PEM of the certificates that the host trusts. */
  readonly certificates: string;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;

  /** @throws NETWORK_ERROR if it does not start */
  static async start(options: ProxyProcessOptions): Promise<ProxyProcess> {
    const path = proxyAddress(createId("glovebox-egress"), options);
    const child = startProxyChild(options);
    watchChild(child, options.logger);
    const ended = once(child, "close").then(
      () => undefined,
      () => undefined,
    );
    const { promise: started, resolve } = Promise.withResolvers<FromProxy>();
    child.once("message", (message) => resolve(message as FromProxy));
    child.once("error", (error) => options.logger.error({ err: error }, "egress proxy could not be started"));
    const { dnsServers, hostAddresses, upstream } = options;
    tell(child, { type: "start", path, dnsServers, hostAddresses, upstream });
    const timer = setTimeout(() => child.kill("SIGKILL"), startMs);
    const message = await Promise.race([started, ended]);
    clearTimeout(timer);
    if (message?.type !== "started") throw proxyError("The egress proxy did not start.");
    return new ProxyProcess({ child, path, ended, certificates: message.certificates, logger: options.logger });
  }

  private constructor(parts: {
    readonly child: ChildProcess;
    readonly path: string;
    readonly ended: Promise<void>;
    readonly certificates: string;
    readonly logger: Logger;
  }) {
    this.#child = parts.child;
    this.#path = parts.path;
    this.#logger = parts.logger;
    this.ended = parts.ended;
    this.certificates = parts.certificates;
    this.#child.on("message", (message) => this.#hear(message as FromProxy));
    this.#watch = setInterval(() => {
      this.#isTroubled = false;
      void this.#endWhenStuck();
    }, watchEveryMs).unref();
    void this.ended.then(() => clearInterval(this.#watch));
  }

  /** Sandboxes whose channels are open. */
  get channelCount(): number {
    return this.#listeners.size;
  }

  /** A byte channel into the proxy for a sandbox's connections, under a name of its own. @throws NETWORK_ERROR */
  async openChannel(channel: string, policy: EgressPolicy, listener: ChannelListener): Promise<Socket> {
    const token = `${createId("tok")}${createId("tok")}${createId("tok")}`.slice(0, tokenCharacters);
    this.#listeners.set(channel, listener);
    tell(this.#child, { type: "open", channel, token, policy });
    const socket = connect(this.#path);
    try {
      await once(socket, "connect");
    } catch (error) {
      this.#listeners.delete(channel);
      throw proxyError("The egress proxy does not answer.", error);
    }
    socket.on("error", () => {
      // Its close follows.
    });
    socket.once("close", () => {
      this.#listeners.delete(channel);
      tell(this.#child, { type: "close", channel });
    });
    socket.write(token);
    return socket;
  }

  /** Hosts that a registry serves its files from, in addition to itself; none if it does not answer. */
  async fileHosts(registry: Registry): Promise<readonly HostAndPort[]> {
    return (await this.#ask((number) => ({ type: "ask", number, registry }), askMs)) ?? [];
  }

  /** Resolves to true once the channel has the policy, to false if the process does not confirm it. */
  async changePolicy(channel: string, policy: EgressPolicy): Promise<boolean> {
    return (await this.#ask((number) => ({ type: "change", number, channel, policy }), changeMs)) !== null;
  }

  /** Resolves when everything that the process has sent so far has been received, or it has ended. */
  async flush(): Promise<void> {
    await this.#ask((number) => ({ type: "flush", number }), flushMs);
  }

  async close(): Promise<void> {
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** A process that hangs is treated as ended: its runs fail now, and the next ones get a new process. */
  async #endWhenStuck(): Promise<void> {
    if (this.#listeners.size === 0 || this.#isAsked) return;
    this.#isAsked = true;
    const answer = await this.#ask((number) => ({ type: "flush", number }), aliveMs);
    this.#isAsked = false;
    if (answer !== null || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#logger.error({ withinMs: aliveMs }, "egress proxy does not answer and is ended");
    this.#child.kill("SIGKILL");
  }

  /** Null if it does not answer in time, or has ended. */
  async #ask(question: (number: number) => ToProxy, withinMs: number): Promise<Answer | null> {
    const number = ++this.#asked;
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, withinMs, null);
    const answer = new Promise<Answer>((hear) => void this.#answers.set(number, hear));
    tell(this.#child, question(number));
    try {
      return await Promise.race([answer, late, this.ended.then(() => null)]);
    } finally {
      clearTimeout(timer);
      this.#answers.delete(number);
    }
  }

  #hear(message: FromProxy): void {
    if (message.type === "denied") this.#listeners.get(message.channel)?.onDenied(message.denial);
    if (message.type === "trouble" && !this.#isTroubled) {
      this.#isTroubled = true;
      this.#logger.warn({ reason: message.reason.slice(0, maxReason) }, "upstream proxy failed");
    }
    if (message.type === "answer") this.#answers.get(message.number)?.(message.hosts);
  }
}

/** Logs the end of the process, and lets ours exit before it. */
function watchChild(child: ChildProcess, logger: Logger): void {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-maxLogged);
  });
  child.once("close", (code, signal) => {
    const isWanted = code === 0 || signal === "SIGKILL";
    logger[isWanted ? "debug" : "error"]({ code, signal, said }, "egress proxy ended");
  });
  child.on("error", () => {
    // Code that waits for it sees its end.
  });
  // It must not keep our process alive.
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket | null)?.unref();
}

function tell(child: ChildProcess, message: ToProxy): void {
  if (!child.connected) return;
  child.send(message, () => {
    // If it has ended, that is noticed by its exit.
  });
}

/** The error of a run whose proxy failed. */
export function proxyError(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", message, {
    suggestion: "Retry: the next run starts a fresh proxy.",
    context: { reason: "egress_proxy_failed", retryable: true },
    cause,
  });
}
