import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ClusterAccess, ConfigData, CredentialCommand } from "./kubeconfig.ts";
import { noCredentials } from "./kubernetes-errors.ts";
import { readConfigText } from "./read-config-text.ts";

/** What proves to a server who asks. */
export interface Credentials {
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
export async function readData(data: ConfigData | null | undefined): Promise<string | undefined> {
  if (data === null || data === undefined) return undefined;
  if ("text" in data) return data.text;
  return readConfigText(data.file).catch((error: unknown) => {
    throw noCredentials("a file that the kubeconfig names cannot be read", error);
  });
}
