import https from "node:https";
import type { IncomingMessage } from "node:http";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import { CredentialSource, readData } from "./credentials.ts";
import type { ClusterAccess } from "./kubeconfig.ts";
import { notReached, refusal, type ApiAnswer } from "./kubernetes-errors.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** Whether an object's name and labels are enough. Default false. */
  readonly metadataOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a connection to the server needs, for requests and for streams. */
export interface ApiConnection {
  readonly access: ClusterAccess;
  readonly tls: https.AgentOptions;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ApiOptions {
  /** @throws ENGINE_UNAVAILABLE */
  readonly findCluster: () => Promise<ClusterAccess>;
  /** Of the host, for a command that gives credentials. */
  readonly environment: Readonly<Record<string, string>>;
  readonly now: () => number;
}

/** A list of some thousand pods has 30 MB. */
const maxAnswerBytes = 64 * mebibyte;
/** Where objects are that are none of the core's. */
const groups: ReadonlyMap<string, string> = new Map([
  ["networkpolicies", "/apis/networking.k8s.io/v1"],
  ["leases", "/apis/coordination.k8s.io/v1"],
]);
/** A server that says nothing for so long does not answer. */
const silentMs = 30_000;
const maxSockets = 32;

/** The API of one cluster. Nothing is opened before the first call. */
export class KubernetesApi {
  readonly #options: ApiOptions;
  #cluster: Promise<{ readonly access: ClusterAccess; readonly credentials: CredentialSource }> | undefined;
  #agent: { readonly agent: https.Agent; readonly key: string } | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Path of the namespace's objects of a kind, such as `pods`. */
  async path(kind: string, name?: string): Promise<string> {
    const { access } = await this.#known();
    return `${groups.get(kind) ?? "/api/v1"}/namespaces/${access.namespace}/${kind}${name === undefined ? "" : `/${name}`}`;
  }

  /**
   * The answer, of a status below 400 or one of the expected ones.
   * @throws the refusal in the catalogue's terms, CANCELLED, ENGINE_UNAVAILABLE
   */
  async call(action: string, request: ApiRequest, expected: readonly number[] = []): Promise<ApiAnswer> {
    let answer = await this.#send(request);
    if (answer.status === 401) {
      // A token may have been renewed, or have ended, since it was read.
      (await this.#known()).credentials.forget();
      answer = await this.#send(request);
    }
    if (answer.status < 400 || expected.includes(answer.status)) return answer;
    throw refusal(action, answer);
  }

  /** For a stream of its own. @throws ENGINE_UNAVAILABLE */
  async connection(): Promise<ApiConnection> {
    const { access, credentials } = await this.#known();
    const [{ token, certificate, key }, ca] = await Promise.all([credentials.get(), readData(access.ca)]);
    return {
      access,
      tls: {
        ...(ca === undefined ? {} : { ca }),
        ...(certificate === undefined ? {} : { cert: certificate }),
        ...(key === undefined ? {} : { key }),
        ...(access.serverName === undefined ? {} : { servername: access.serverName }),
        rejectUnauthorized: !access.isUnverified,
      },
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    };
  }

  close(): void {
    this.#agent?.agent.destroy();
    this.#agent = undefined;
  }

  #known(): Promise<{ readonly access: ClusterAccess; readonly credentials: CredentialSource }> {
    if (this.#cluster !== undefined) return this.#cluster;
    const { environment, now } = this.#options;
    const found = this.#options
      .findCluster()
      .then((access) => ({ access, credentials: new CredentialSource(access, environment, now) }));
    this.#cluster = found;
    found.catch(() => {
      // A configuration that is mended later counts then.
      this.#cluster = undefined;
    });
    return found;
  }

  async #send(request: ApiRequest): Promise<ApiAnswer> {
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      // The server may have closed the kept connection just now; what only looks may look again.
      if (request.method !== "GET" || (error as { code?: unknown }).code !== "ECONNRESET")
        throw told(error, request.signal);
      return this.#sendOnce(request).catch((again: unknown) => {
        throw told(again, request.signal);
      });
    }
  }

  async #sendOnce({ method, path, query = {}, body, metadataOnly = false, signal }: ApiRequest): Promise<ApiAnswer> {
    throwIfCancelled(signal);
    const { access, tls, headers } = await this.connection();
    const url = new URL(`${access.url.pathname.replace(/\/$/, "")}${path}`, access.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = https.request(url, {
      method,
      agent: this.#agentFor(tls),
      timeout: silentMs,
      headers: {
        ...headers,
        accept: metadataOnly ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" : "application/json",
        ...(payload === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(payload) }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    sent.on("response", resolve);
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" })));
    sent.end(payload);
    const response = await promise;
    return { status: response.statusCode ?? 0, body: parseBody(await readBody(response)) };
  }

  /** One for each set of certificates: Node keeps connections by their whole options, which are long. */
  #agentFor(tls: https.AgentOptions): https.Agent {
    const key = JSON.stringify([tls.cert, tls.key, tls.ca]);
    if (this.#agent?.key === key) return this.#agent.agent;
    // What goes on over the old one ends by itself.
    const agent = new https.Agent({ ...tls, keepAlive: true, maxSockets });
    this.#agent = { agent, key };
    return agent;
  }
}

function told(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return cancelled(signal.reason);
  return (error as { errorType?: unknown }).errorType === undefined ? notReached(error) : error;
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) {
      response.destroy();
      throw Object.assign(new Error("the answer is too long"), { code: "EMSGSIZE" });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(text: string): ApiAnswer["body"] {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as ApiAnswer["body"]) : {};
  } catch {
    return { message: text };
  }
}
