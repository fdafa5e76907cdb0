import path from "node:path";
import { parse } from "yaml";
import { configFault } from "./kubernetes-errors.ts";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { mebibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** Where a cluster's API is, and how to prove to it who asks. */
export interface ClusterAccess {
  readonly url: URL;
  /** Certificates of who may sign the server's; default: those that Node trusts. */
  readonly ca: ConfigData | null;
  /** Whoever answers is taken for the server. */
  readonly isUnverified: boolean;
  /** The name that the server's certificate must have; default: the URL's. */
  readonly serverName: string | undefined;
  readonly user: ClusterUser;
  readonly namespace: string;
  /** Who named it: a context, or the pod that this process runs in. */
  readonly origin: string;
}

/** A value of the configuration, in it or in a file of its own that may be renewed. */
export type ConfigData = { readonly text: string } | { readonly file: string };

interface ClusterUser {
  readonly token: ConfigData | null;
  readonly certificate: ConfigData | null;
  readonly key: ConfigData | null;
  readonly command: CredentialCommand | null;
}

/** A program of a cloud provider that prints credentials. */
export interface CredentialCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly apiVersion: string;
}

interface ReadConfigOptions {
  readonly context: string | undefined;
  readonly namespace: string | undefined;
}

/** A file of the configuration and its text. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The first entry of a name counts, in whichever file it is. @throws ENGINE_UNAVAILABLE saying what is wrong */
export function readKubeconfig(files: readonly ConfigFile[], options: ReadConfigOptions): ClusterAccess {
  const parsed = files.map(({ path: file, text }) => ({ folder: path.dirname(file), fields: parseFile(text) }));
  const current = parsed.map(({ fields }) => textOf(fields["current-context"])).find((name) => name !== undefined);
  const contextName = options.context ?? current;
  if (contextName === undefined) throw configFault("it names no current context", "GLOVEBOX_KUBERNETES_CONTEXT");
  const find = (list: string, key: string, name: string | undefined): Entry => {
    for (const { folder, fields } of parsed) {
      const entry = objectsOf(fields[list]).find((each) => each["name"] === name);
      if (entry !== undefined) return { folder, fields: objectOf(entry[key]) };
    }
    throw configFault(`it has no ${key} ${JSON.stringify((name ?? "").slice(0, 80))}`, "GLOVEBOX_KUBERNETES_CONTEXT");
  };
  const context = find("contexts", "context", contextName).fields;
  const cluster = find("clusters", "cluster", textOf(context["cluster"]));
  const user = textOf(context["user"]);
  if (cluster.fields["proxy-url"] !== undefined)
    throw configFault("it reaches its cluster by a proxy, which Glovebox does not");
  return {
    url: urlOf(textOf(cluster.fields["server"])),
    ca: dataOf(cluster, "certificate-authority"),
    isUnverified: cluster.fields["insecure-skip-tls-verify"] === true,
    serverName: textOf(cluster.fields["tls-server-name"]),
    user: user === undefined ? noUser : userOf(find("users", "user", user)),
    namespace: options.namespace ?? textOf(context["namespace"]) ?? "default",
    origin: `context ${contextName}`,
  };
}

const noUser: ClusterUser = { token: null, certificate: null, key: null, command: null };

/** Where a pod's own credentials are. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The cluster that this process itself runs in. */
export function ownCluster(host: string, port: string, namespace: string): ClusterAccess {
  return {
    url: urlOf(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    ca: { file: `${serviceAccountFolder}/ca.crt` },
    isUnverified: false,
    serverName: undefined,
    user: { ...noUser, token: { file: `${serviceAccountFolder}/token` } },
    namespace,
    origin: "the pod of this server",
  };
}

interface Entry {
  readonly folder: string;
  readonly fields: Fields;
}

/** Far above what certificates, tokens and whole configurations have. */
export const maxConfigBytes = 4 * mebibyte;

/** The text of a file of the configuration; a pipe that nobody writes to is empty. @throws Error for a longer one, and as `open` */
export async function readConfigText(file: string): Promise<string> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  for (let bytes = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536));
    if (bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
    bytes += bytesRead;
    if (bytes > maxConfigBytes) throw new Error(`it has more than ${maxConfigBytes} bytes`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/** What a deployment says of its cluster. */
export interface KubernetesSettings {
  /** Files of the client's configuration, in order; the first that says something counts. */
  readonly configFiles: readonly string[];
  /** Default: the configuration's current one. */
  readonly context: string | undefined;
  /** Default: the context's; in a cluster, the pod's own. */
  readonly namespace: string | undefined;
  /** Processors of the nodes that sandboxes go to, as Kubernetes calls them: `amd64` or `arm64`. */
  readonly architecture: string;
  /** Names of secrets with registry credentials, in the namespace. */
  readonly pullSecrets: readonly string[];
  /** Name of a ConfigMap in the namespace, with whose removal the cluster removes all that this server made. */
  readonly owner: string | undefined;
  /** Whether sandboxes may have the cluster's network. */
  readonly acceptsNetwork: boolean;
}

/** Weaknesses that a deployment may accept by name. */
const acceptable = "network";

/** Names of most objects. */
export const nameForm: RegExp = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** @throws INVALID_REQUEST naming the variable */
export function readSettings(
  environment: Readonly<Record<string, string>>,
  architecture: NodeJS.Architecture,
): KubernetesSettings {
  const read = (name: string): string | undefined => environment[`GLOVEBOX_KUBERNETES_${name}`]?.trim() || undefined;
  const list = (name: string): readonly string[] => (read(name) ?? "").split(",").flatMap((each) => each.trim() || []);
  const named = (name: string, values: readonly string[]): void => {
    const wrong = values.find((value) => !nameForm.test(value));
    if (wrong !== undefined) throw refuse(name, "a name of Kubernetes (lower-case letters, digits, - and .)", wrong);
  };
  const namespace = read("NAMESPACE");
  const pullSecrets = list("PULL_SECRETS");
  named("NAMESPACE", namespace === undefined ? [] : [namespace]);
  named("PULL_SECRETS", pullSecrets);
  const owner = read("OWNER");
  named("OWNER", owner === undefined ? [] : [owner]);
  const accepted = list("ACCEPT");
  const unknown = accepted.find((each) => each !== acceptable);
  if (unknown !== undefined) throw refuse("ACCEPT", acceptable, unknown);
  const asked = read("ARCHITECTURE");
  if (asked !== undefined && asked !== "amd64" && asked !== "arm64")
    throw refuse("ARCHITECTURE", "amd64 or arm64", asked);
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const files = environment["KUBECONFIG"]
    ?.split(home?.includes("\\") === true ? ";" : ":")
    .filter((file) => file !== "");
  return {
    configFiles: files ?? (home === undefined ? [] : [`${home}/.kube/config`]),
    context: read("CONTEXT"),
    namespace,
    architecture: asked ?? (architecture === "arm64" ? "arm64" : "amd64"),
    pullSecrets,
    owner,
    acceptsNetwork: accepted.includes(acceptable),
  };
}

function refuse(name: string, expected: string, got: string): GloveboxError {
  const field = `GLOVEBOX_KUBERNETES_${name}`;
  return new GloveboxError(
    "INVALID_REQUEST",
    `${field}: expected ${expected}, got ${JSON.stringify(got.slice(0, 80))}.`,
    {
      suggestion: `Correct ${field}.`,
      context: { field },
    },
  );
}

function parseFile(text: string): Fields {
  try {
    // Without aliases: nothing small becomes large.
    return objectOf(parse(text, { maxAliasCount: 0 }));
  } catch (error) {
    throw configFault("it is not valid YAML", undefined, error);
  }
}

function userOf(entry: Entry): ClusterUser {
  const { fields, folder } = entry;
  if (fields["auth-provider"] !== undefined)
    throw configFault("it uses an auth-provider, which Kubernetes has given up");
  if (fields["username"] !== undefined) throw configFault("it uses a password, which Kubernetes has given up");
  const exec = fields["exec"] === undefined ? null : objectOf(fields["exec"]);
  const tokenFile = textOf(fields["tokenFile"]);
  const token = textOf(fields["token"]);
  return {
    token:
      tokenFile !== undefined
        ? { file: path.resolve(folder, tokenFile) }
        : token === undefined
          ? null
          : { text: token },
    certificate: dataOf(entry, "client-certificate"),
    key: dataOf(entry, "client-key"),
    command: exec === null ? null : commandOf(exec, folder),
  };
}

function commandOf(exec: Fields, folder: string): CredentialCommand {
  const command = textOf(exec["command"]);
  const apiVersion = textOf(exec["apiVersion"]);
  if (command === undefined || apiVersion === undefined) throw configFault("its credential plugin has no command");
  const variables = objectsOf(exec["env"]).map(
    (each) => [textOf(each["name"]) ?? "", textOf(each["value"]) ?? ""] as const,
  );
  const words = Array.isArray(exec["args"]) ? (exec["args"] as readonly unknown[]) : [];
  return {
    command: command.includes("/") ? path.resolve(folder, command) : command,
    arguments: words.map(String),
    environment: Object.fromEntries(variables.filter(([name]) => name !== "")),
    apiVersion,
  };
}

function dataOf({ folder, fields }: Entry, name: string): ConfigData | null {
  const data = textOf(fields[`${name}-data`]);
  if (data !== undefined) return { text: Buffer.from(data, "base64").toString("latin1") };
  const file = textOf(fields[name]);
  return file === undefined ? null : { file: path.resolve(folder, file) };
}

function urlOf(server: string | undefined): URL {
  const url = URL.parse(server ?? "");
  // What proves who asks is not sent in the clear.
  if (url?.protocol !== "https:") throw configFault("its server is not an https:// URL");
  return url;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
