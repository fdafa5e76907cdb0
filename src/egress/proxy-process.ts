import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/host-and-port.ts";
import type { FromProxy, Registry, ToProxy } from "./proxy-messages.ts";

export interface ProxyProcessOptions {
  readonly platform: NodeJS.Platform;
  /** Where files of our own that must not stay may be made. */
  readonly temporaryDirectory: string;
  /** The host's variables that say which certificates it trusts; nothing else of its environment is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** DNS servers; none: the host's own means. */
  readonly dnsServers: readonly string[];
  readonly logger: Logger;
}

/** What is heard of one channel's part of the proxy. */
export interface ChannelListener {
  readonly onReady: () => void;
  readonly onDenied: (denial: Extract<FromProxy, { type: "denied" }>["denial"]) => void;
}

/** Names of variables that Node and OpenSSL read certificates by. */
const certificateVariables = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const startMs = 20_000;
const askMs = 20_000;
const flushMs = 2_000;
const changeMs = 5_000;
const mostHeapMegabytes = 256;
const mostLogged = 2_000;
const tokenCharacters = 64;

type Answer = readonly HostAndPort[];

/** One life of the egress proxy's process. */
export class ProxyProcess {
  readonly #child: ChildProcess;
  readonly #path: string;
  readonly #listeners = new Map<string, ChannelListener>();
  readonly #answers = new Map<number, (hosts: Answer) => void>();
  #asked = 0;
  /** PEM of the certificates that the host trusts. */
  readonly certificates: string;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;

  /** @throws NETWORK_ERROR when it does not come up */
  static async start(options: ProxyProcessOptions): Promise<ProxyProcess> {
    const path = socketPath(options);
    const child = startChild(options);
    const ended = once(child, "close").then(
      () => undefined,
      () => undefined,
    );
    const { promise: started, resolve } = Promise.withResolvers<FromProxy>();
    child.once("message", (message) => resolve(message as FromProxy));
    child.once("error", (error) => options.logger.error({ err: error }, "egress proxy could not be started"));
    tell(child, { type: "start", path, dnsServers: options.dnsServers });
    const timer = setTimeout(() => child.kill("SIGKILL"), startMs);
    const message = await Promise.race([started, ended]);
    clearTimeout(timer);
    if (message?.type !== "started") throw proxyError("The egress proxy did not start.");
    return new ProxyProcess({ child, path, ended, certificates: message.certificates });
  }

  private constructor(parts: {
    readonly child: ChildProcess;
    readonly path: string;
    readonly ended: Promise<void>;
    readonly certificates: string;
  }) {
    this.#child = parts.child;
    this.#path = parts.path;
    this.ended = parts.ended;
    this.certificates = parts.certificates;
    this.#child.on("message", (message) => this.#hear(message as FromProxy));
  }

  /** A byte channel into the proxy for a sandbox's forwarder, under a name of its own. @throws NETWORK_ERROR */
  async openChannel(channel: string, policy: EgressPolicy, listener: ChannelListener): Promise<Socket> {
    const token = `${createId("tok")}${createId("tok")}${createId("tok")}`.slice(0, tokenCharacters);
    this.#listeners.set(channel, listener);
    tell(this.#child, { type: "open", channel, token, policy });
    const socket = connect(this.#path);
    try {
      await once(socket, "connect");
    } catch (error) {
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

  /** Hosts that a registry serves its files from, beside itself; none when it does not answer. */
  async fileHosts(registry: Registry): Promise<readonly HostAndPort[]> {
    return (await this.#ask((number) => ({ type: "ask", number, registry }), askMs)) ?? [];
  }

  /** Resolves to true when the channel has the policy, to false when the process does not say so. */
  async changePolicy(channel: string, policy: EgressPolicy): Promise<boolean> {
    return (await this.#ask((number) => ({ type: "change", number, channel, policy }), changeMs)) !== null;
  }

  /** Resolves when everything that the process had told by now has been heard, or it has ended. */
  async flush(): Promise<void> {
    await this.#ask((number) => ({ type: "flush", number }), flushMs);
  }

  async close(): Promise<void> {
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Null when it does not answer in time, or has ended. */
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
    if (message.type === "ready") this.#listeners.get(message.channel)?.onReady();
    if (message.type === "denied") this.#listeners.get(message.channel)?.onDenied(message.denial);
    if (message.type === "answer") this.#answers.get(message.number)?.(message.hosts);
  }
}

function startChild({ environment, logger }: ProxyProcessOptions): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const script = fileURLToPath(new URL(isSource ? "./proxy-main.ts" : "./proxy-main.js", import.meta.url));
  const sources = fileURLToPath(new URL("../", import.meta.url));
  const child = fork(script, [], {
    execArgv: [
      ...["--permission", `--allow-fs-read=${sources}`, "--use-system-ca", "--no-warnings"],
      ...[`--max-old-space-size=${mostHeapMegabytes}`, "--disallow-code-generation-from-strings"],
    ],
    env: Object.fromEntries(
      certificateVariables.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    ),
    cwd: sources,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "json",
    // Not of our process group: a terminal's Ctrl-C is for us to answer.
    detached: true,
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-mostLogged);
  });
  child.once("close", (code, signal) => {
    const log = signal === "SIGKILL" || code === 0 ? logger.debug : logger.error;
    log.call(logger, { code, signal, said }, "egress proxy ended");
  });
  child.on("error", () => {
    // Whoever waits for it sees its end.
  });
  // It lives for us, not the other way round.
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket | null)?.unref();
  return child;
}

function tell(child: ChildProcess, message: ToProxy): void {
  if (!child.connected) return;
  child.send(message, () => {
    // One that has ended is noticed by its end.
  });
}

/** An address for channels that only this machine can reach and that leaves nothing behind. */
function socketPath({ platform, temporaryDirectory }: ProxyProcessOptions): string {
  const name = createId("glovebox-egress");
  if (platform === "linux") return `\0${name}`;
  return platform === "win32" ? `\\\\.\\pipe\\${name}` : `${temporaryDirectory}/${name}.sock`;
}

/** The error of a run whose proxy failed it. */
export function proxyError(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", message, {
    suggestion: "Retry: the next run starts a fresh proxy.",
    context: { reason: "egress_proxy_failed", retryable: true },
    cause,
  });
}
