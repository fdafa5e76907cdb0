import { request, type IncomingMessage, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { NotImitated } from "../output/command-error.ts";

/** Docker has refused a request. */
export class DockerError extends Error {
  override readonly name = "DockerError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Hijacked {
  readonly socket: Socket;
  /** Bytes that arrived with the answer's head. */
  readonly head: Buffer;
}

const apiVersion = "/v1.41";

/** The part of Docker's API that the stand-in needs; it opens a new connection for each request. */
export class DockerApi {
  readonly #target: RequestOptions;

  /** `unix:///path` or `tcp://host:port`. */
  constructor(dockerHost: string) {
    const url = new URL(dockerHost);
    this.#target =
      url.protocol === "unix:"
        ? { socketPath: decodeURIComponent(url.pathname) }
        : { host: url.hostname, port: url.port };
  }

  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const text = await textOf(await this.stream(method, path, body));
    return (text === "" ? null : JSON.parse(text)) as T;
  }

  /** The answer's body as it arrives; a string, buffer or stream is sent unchanged. */
  async stream(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const raw = Buffer.isBuffer(body);
      const content = body === undefined ? undefined : raw ? body : JSON.stringify(body);
      const headers =
        content === undefined
          ? {}
          : {
              "content-type": raw ? "application/x-tar" : "application/json",
              "content-length": Buffer.byteLength(content),
            };
      const sent = request({ ...this.#target, agent: false, method, path: apiVersion + path, headers }, resolve);
      sent.on("error", (error) => reject(unreachable(error)));
      sent.end(content);
    });
    const status = response.statusCode ?? 0;
    if (status >= 400) throw new DockerError(status, messageOf(await textOf(response)));
    return response;
  }

  /** A connection that carries a program's streams. */
  hijack(path: string, body: unknown): Promise<Hijacked> {
    const content = JSON.stringify(body);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(content),
      connection: "Upgrade",
      upgrade: "tcp",
    };
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#target, agent: false, method: "POST", path: apiVersion + path, headers });
      sent.on("upgrade", (_, socket, head) => resolve({ socket, head }));
      sent.on("response", (response) => {
        void textOf(response).then(
          (text) => reject(new DockerError(response.statusCode ?? 0, messageOf(text))),
          reject,
        );
      });
      sent.on("error", (error) => reject(unreachable(error)));
      sent.end(content);
    });
  }
}

function unreachable(error: Error): Error {
  return new NotImitated(`Docker, on which the stand-in runs, does not answer: ${error.message}`);
}

export async function textOf(response: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
