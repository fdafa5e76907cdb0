import https from "node:https";
import type { IncomingMessage } from "node:http";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import { readConfigText, type ClusterAccess, type ConfigData, type CredentialCommand } from "./cluster-settings.ts";
import { notReached, refusal, noCredentials, engineName, type ApiAnswer } from "./kubernetes-errors.ts";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../engine.ts";

/** What proves to a server who asks. */
interface Credentials {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Files are read again after so long: the kubelet renews a pod's token in them. */
const fileMs = 60_000;
/** A command's credentials are renewed this long before they end. */
const earlyMs = 60_000;
const commandMs = 30_000;
const maxCommandBytes = 1_048_576;

/** Hands out credentials, renewed when they end or were refused. */
export class CredentialSource {
  readonly #access: ClusterAccess;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #now: () => number;
  #known: { readonly credentials: Promise<Credentials>; untilMs: number } | undefined;

  constructor(access: ClusterAccess, environment: Readonly<Record<string, string>>, now: () => number) {
    this.#access = access;
    this.#environment = environment;
    this.#now = now;
  }

  /** @throws ENGINE_UNAVAILABLE */
  async get(): Promise<Credentials> {
    const known = this.#known;
    if (known !== undefined && this.#now() < known.untilMs) return known.credentials;
    const next = { credentials: this.#renew(), untilMs: this.#now() + fileMs };
    this.#known = next;
    next.credentials.catch(() => {
      if (this.#known === next) this.#known = undefined;
    });
    return next.credentials;
  }

  /** They were refused: the next ones are new. */
  forget(): void {
    this.#known = undefined;
  }

  async #renew(): Promise<Credentials> {
    const { token, certificate, key, command } = this.#access.user;
    const [ownToken, ownCertificate, ownKey] = await Promise.all([token, certificate, key].map(readData));
    const own = { token: ownToken?.trim(), certificate: ownCertificate, key: ownKey };
    if (command === null) return own;
    const given = await this.#run(command);
    return given.certificate === undefined ? { ...own, token: given.token } : given;
  }

  async #run(plugin: CredentialCommand): Promise<Credentials> {
    const { command, arguments: words, environment, apiVersion } = plugin;
    const info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } });
    const env = { ...this.#environment, ...environment, KUBERNETES_EXEC_INFO: info };
    const run = promisify(execFile)(command, words, { env, timeout: commandMs, maxBuffer: maxCommandBytes });
    const { stdout } = await run.catch((error: unknown) => {
      throw noCredentials("the command of the kubeconfig that gives them failed", error);
    });
    const { credentials, untilMs } = readExecCredential(stdout);
    if (this.#known !== undefined && untilMs !== null) this.#known.untilMs = untilMs - earlyMs;
    return credentials;
  }
}

interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** Whether an object's name and labels are enough. Default false. */
  readonly metadataOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a connection to the server needs, for requests and for streams. */
interface ApiConnection {
  readonly access: ClusterAccess;
  readonly tls: https.AgentOptions;
  readonly headers: Readonly<Record<string, string>>;
}

interface ApiOptions {
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

/** Part of an object's metadata by which the cluster removes it with its owner. */
export interface OwnerReferences {
  readonly ownerReferences?: readonly [
    { readonly apiVersion: "v1"; readonly kind: "ConfigMap"; readonly name: string; readonly uid: string },
  ];
}

/**
 * References to the ConfigMap that the deployment names; none where it names none. Asked for each object: what names an owner that was
 * made again under its name is removed at once.
 * @throws NOT_FOUND when there is no such ConfigMap
 */
export async function ownerReferences(
  api: KubernetesApi,
  name: string | undefined,
  { signal }: CallOptions = {},
): Promise<OwnerReferences> {
  if (name === undefined) return {};
  const path = await api.path("configmaps", name);
  const look = { method: "GET", path, signal, metadataOnly: true } as const;
  const { status, body } = await api.call("look at the owner of its objects", look, [404]);
  if (status === 404) throw noOwner(name);
  const { uid } = body["metadata"] as { readonly uid: string };
  return { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid }] };
}

function noOwner(name: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `There is no ConfigMap ${name}, which is to own what Glovebox makes.`, {
    suggestion: `Make it (kubectl create configmap ${name}), or leave GLOVEBOX_KUBERNETES_OWNER out.`,
    context: { engine: engineName },
  });
}

/** What a credential command has printed. @throws ENGINE_UNAVAILABLE */
function readExecCredential(text: string): {
  readonly credentials: Credentials;
  readonly untilMs: number | null;
} {
  let status: Readonly<Record<string, unknown>>;
  try {
    const answer = JSON.parse(text) as { readonly status?: Readonly<Record<string, unknown>> } | null;
    status = answer?.status ?? {};
  } catch (error) {
    throw noCredentials("the command of the kubeconfig that gives them printed no JSON", error);
  }
  const textAt = (name: string): string | undefined => {
    const value = status[name];
    return typeof value === "string" ? value : undefined;
  };
  const credentials = {
    token: textAt("token"),
    certificate: textAt("clientCertificateData"),
    key: textAt("clientKeyData"),
  };
  if (credentials.token === undefined && credentials.certificate === undefined) {
    throw noCredentials("the command of the kubeconfig that gives them printed none");
  }
  const untilMs = Date.parse(textAt("expirationTimestamp") ?? "");
  return { credentials, untilMs: Number.isNaN(untilMs) ? null : untilMs };
}

/** @throws ENGINE_UNAVAILABLE when a file cannot be read */
async function readData(data: ConfigData | null | undefined): Promise<string | undefined> {
  if (data === null || data === undefined) return undefined;
  if ("text" in data) return data.text;
  return readConfigText(data.file).catch((error: unknown) => {
    throw noCredentials("a file that the kubeconfig names cannot be read", error);
  });
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
