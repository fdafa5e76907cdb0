import { GloveboxError } from "../../errors/glovebox-error.ts";

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
