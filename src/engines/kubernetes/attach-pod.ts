import { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import type { CallOptions } from "../engine.ts";
import { SupervisorChannel } from "../supervised/channel/channel.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";
import { engineTitle, refusal, shownWords, notReached } from "./kubernetes-errors.ts";
import { startFailure, readPod, type Pod, type PodKey } from "./pod.ts";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { mebibyte } from "../../base/bytes.ts";

/** First byte of each message of the protocol. */
const channels = { input: 0, output: 1, status: 3 } as const;

/**
 * The supervisor's standard input and output over an attached WebSocket, which may come later than the first bytes to it, and more
 * than once until the supervisor has said something: what was written is kept until then. What it says for people, on standard
 * error, is thrown away: the channel tells the same.
 */
export class AttachStream extends Duplex {
  #socket: WebSocket | undefined;
  /** What no supervisor is known to have received; null: one has answered. */
  #unheard: Buffer[] | null = [];

  constructor() {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.on("error", () => {
      // Its close follows.
    });
  }

  /**
   * Uses a connection that is open. Resolves to null when the supervisor has said something by it; else to why it ended before. From
   * its first words on its end is the stream's.
   */
  use(socket: WebSocket): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    let reason = "the connection ended";
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const [channel] = data;
      if (channel === channels.status) reason = data.subarray(1).toString("utf8");
      if (channel !== channels.output || data.length === 1) return;
      this.#unheard = null;
      resolve(null);
      if (!this.push(data.subarray(1))) socket.pause();
    });
    socket.on("error", (error) => {
      reason = error.message;
    });
    socket.on("close", () => {
      resolve(reason);
      if (this.#unheard === null) this.destroy();
    });
    if (this.destroyed) socket.terminate();
    else this.#sendUnheard(socket);
    return promise;
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#take(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket?.terminate();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.terminate();
    done(error);
  }

  #take(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.#unheard?.push(bytes);
    if (this.#socket === undefined) done();
    else this.#send(this.#socket, bytes, done);
  }

  #sendUnheard(socket: WebSocket): void {
    const bytes = Buffer.concat(this.#unheard ?? []);
    if (bytes.length > 0) this.#send(socket, bytes, () => undefined);
  }

  #send(socket: WebSocket, bytes: Buffer, done: (error?: Error | null) => void): void {
    socket.send(Buffer.concat([Buffer.from([channels.input]), bytes]), (error) => {
      // Before its first words a connection may fail, and the next one has them all.
      done(this.#unheard === null ? (error ?? null) : null);
    });
  }
}

/** Time between tries to attach, which fail until the container runs: often at first, as most start within half a second. */
const triesMs = [
  { untilMs: 1_000, everyMs: 30 },
  { untilMs: 5_000, everyMs: 100 },
] as const;
const lateTryMs = 400;
/** The pod is looked at for a reason after so many tries in a row. */
const triesPerLook = 6;
/** A start that takes longer may lack what a pod's volumes are made of, of which its status says nothing. */
const slowMs = 2_000;

/** Which supervisor is attached to. */
export interface AttachTarget {
  readonly key: PodKey;
  readonly container: string;
  /** Of the pod, for errors. */
  readonly image: string;
  /** Has it there again, if it is gone, what the pod's volumes are made of. */
  readonly restoreVolumes: (options: CallOptions) => Promise<void>;
  readonly onLook?: ((pod: Pod) => void) | undefined;
}

/** Connects the stream to a supervisor; resolves when it has said its first words. @throws why the pod does not start */
export async function attachPod(
  api: KubernetesApi,
  target: AttachTarget,
  stream: AttachStream,
  { signal }: CallOptions,
): Promise<void> {
  let waitedMs = 0;
  for (let tries = 1; ; tries += 1) {
    throwIfCancelled(signal);
    const reason = await tryAttach(api, target, stream, signal);
    if (reason === null) return;
    if (tries % triesPerLook === 0) {
      await assertMayStart(api, target, reason, signal);
      if (waitedMs >= slowMs) await target.restoreVolumes({ signal });
    }
    const everyMs = triesMs.find(({ untilMs }) => waitedMs < untilMs)?.everyMs ?? lateTryMs;
    await untilCancelled(sleep(everyMs), signal);
    waitedMs += everyMs;
  }
}

interface SupervisorPlace {
  readonly target: AttachTarget;
  readonly terms: SupervisorTerms;
  readonly epoch: number;
}

/** Talks to a supervisor whose container no program runs in; it ends with the work. */
export async function withSupervisor<T>(
  api: KubernetesApi,
  { target, terms, epoch }: SupervisorPlace,
  { signal }: CallOptions,
  work: (channel: SupervisorChannel) => Promise<T>,
): Promise<T> {
  const stream = new AttachStream();
  const channel = new SupervisorChannel({
    ...{ transport: stream, terms, epoch },
    explain: () => Promise.resolve({ error: lostError(engineTitle), isGone: true }),
  });
  try {
    await attachPod(api, target, stream, { signal });
    await channel.hello();
    return await work(channel);
  } finally {
    // The end of its stream is its own.
    await channel.close();
  }
}

/** Null: the supervisor has answered. */
async function tryAttach(
  api: KubernetesApi,
  target: AttachTarget,
  stream: AttachStream,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const opened = await openAttach(api, { pod: target.key.name, container: target.container }, signal);
  if (!("status" in opened)) {
    const giveUp = (): void => opened.terminate();
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await stream.use(opened);
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }
  const { status, words } = opened;
  // 400 and 500: there is no container yet; 404: there may be no pod any more.
  if (status !== 400 && status !== 404 && status < 500)
    throw refusal("attach to the pod", { status, body: { message: words } });
  if (status === 404) await assertMayStart(api, target, words, signal);
  return words;
}

async function assertMayStart(
  api: KubernetesApi,
  { key, container, image, onLook }: AttachTarget,
  reason: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const pod = await readPod(api, key, { signal });
  if (pod === null) throw lostError(engineTitle, new Error(shownWords(reason)));
  onLook?.(pod);
  const failure = startFailure(pod, { image, container });
  if (failure !== null) throw failure;
}

/** The first that can tell the end of input, and what every server since 1.30 has. */
const subprotocol = "v5.channel.k8s.io";
const handshakeMs = 10_000;
/** More than any server puts into one message. */
const maxMessageBytes = 4 * mebibyte;

/** A refusal of the API server to attach. */
interface AttachRefusal {
  readonly status: number;
  readonly words: string;
}

/**
 * Opens a connection to the first process's standard streams. An open one may still end because there is nothing to attach to yet.
 * @throws ENGINE_UNAVAILABLE when the server cannot be reached
 */
async function openAttach(
  api: KubernetesApi,
  { pod, container }: { readonly pod: string; readonly container: string },
  signal: AbortSignal | undefined,
): Promise<WebSocket | AttachRefusal> {
  const [{ access, tls, headers }, path] = await Promise.all([api.connection(), api.path("pods", pod)]);
  const url = new URL(`${access.url.pathname.replace(/\/$/, "")}${path}/attach`, access.url);
  url.protocol = "wss:";
  const query = { container, stdin: "true", stdout: "true", stderr: "true", tty: "false" };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const { ca, cert, key, servername, rejectUnauthorized } = tls;
  const socket = new WebSocket(url, subprotocol, {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    rejectUnauthorized: rejectUnauthorized !== false,
    headers,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: handshakeMs,
    maxPayload: maxMessageBytes,
  });
  const refused = Promise.withResolvers<AttachRefusal>();
  socket.on("unexpected-response", (_request, response: IncomingMessage) => {
    // Once the answer is read to its end, Node keeps the connection for a next request and knows no request that could end it.
    const connection = response.socket;
    void readStart(response).then((text) => {
      refused.resolve({ status: response.statusCode ?? 0, words: wordsOf(text) });
      connection.destroy();
    });
  });
  const giveUp = (): void => socket.terminate();
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    const opened = once(socket, "open").then(() => socket);
    return await Promise.race([opened, refused.promise]);
  } catch (error) {
    throw notReached(error);
  } finally {
    signal?.removeEventListener("abort", giveUp);
    socket.on("error", () => {
      // Its close follows.
    });
  }
}

const maxRefusalBytes = 4_096;

async function readStart(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString("utf8");
      if (text.length > maxRefusalBytes) break;
    }
  } catch {
    // What has come says enough.
  }
  return text;
}

function wordsOf(text: string): string {
  try {
    return shownWords((JSON.parse(text) as { readonly message?: unknown } | null)?.message ?? text);
  } catch {
    return shownWords(text);
  }
}
