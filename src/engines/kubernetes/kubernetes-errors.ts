import { GloveboxError } from "../../errors/glovebox-error.ts";
import { unavailableError } from "../unavailability.ts";

export const engineName = "kubernetes";
export const engineTitle = "Kubernetes";

const manual = "docs/kubernetes.md says how a cluster is set up.";

/** There is no configuration that names a cluster. */
export function noCluster(): GloveboxError {
  const reason = "No Kubernetes cluster is named: there is no kubeconfig, and this is not a pod.";
  return unavailableError(engineName, {
    reason,
    howToStart: `Set KUBECONFIG to a kubeconfig. ${manual}`,
    isAbsent: true,
  });
}

/** A configuration that cannot be used. */
export function configFault(problem: string, variable = "KUBECONFIG", cause?: unknown): GloveboxError {
  const reason = `The kubeconfig cannot be used: ${problem}.`;
  return unavailableError(engineName, { reason, howToStart: `Correct it, or set ${variable}. ${manual}` }, cause);
}

export function notReached(cause: unknown): GloveboxError {
  const { code = "" } = cause as NodeJS.ErrnoException;
  const what = code === "" ? "cannot be reached" : `cannot be reached (${code})`;
  const reason = `The API server of Kubernetes ${what}.`;
  return unavailableError(
    engineName,
    { reason, howToStart: "Check `kubectl get --raw /readyz` with the same kubeconfig." },
    cause,
  );
}

export function noCredentials(what: string, cause?: unknown): GloveboxError {
  const reason = `There are no credentials for Kubernetes: ${what}.`;
  return unavailableError(
    engineName,
    { reason, howToStart: `Renew them (\`kubectl auth whoami\` tries them). ${manual}` },
    cause,
  );
}

/** An answer of the API server. */
export interface ApiAnswer {
  readonly status: number;
  /** The object of JSON that it is; empty for anything else. */
  readonly body: Readonly<Record<string, unknown>>;
}

const maxShownChars = 400;

/** What a cluster says, for a message: one short line. */
export function shownWords(words: unknown): string {
  const line = (typeof words === "string" ? words : "").replace(/[\p{C}\s]+/gu, " ").trim();
  return line.length > maxShownChars ? `${line.slice(0, maxShownChars)}…` : line;
}

/** The server's own words in an answer that refuses. */
function refusalWords({ body }: ApiAnswer): string {
  return shownWords(body["message"]);
}

/** By which a refusal is told from a missing right: what admission says of a pod that the account may make. */
const admissionWords =
  /PodSecurity|admission webhook|denied the request|RuntimeClass|looking up service account|(?:maximum|minimum) [\w-]+ usage per|limit to request ratio/i;

/** An answer that no caller expected; `action` completes "failed to ...". */
export function refusal(action: string, answer: ApiAnswer): GloveboxError {
  const { status } = answer;
  const words = refusalWords(answer);
  const cause = new Error(`HTTP ${status}: ${words}`);
  const options = { context: { engine: engineName, http_status: status }, cause };
  if (status === 401) return noCredentials("its API server does not know who asks", cause);
  if (status === 403 && /exceeded quota|quota/i.test(words)) {
    return new GloveboxError("CAPACITY", `Kubernetes has no room by its quota: ${words}`, options);
  }
  if (status === 403 && admissionWords.test(words)) {
    return new GloveboxError("UNSUPPORTED", `Kubernetes refuses the sandbox: ${words}`, options);
  }
  if (status === 403) {
    const howToStart = `Give its account the rights that docs/kubernetes.md lists.`;
    return unavailableError(
      engineName,
      { reason: `Kubernetes does not allow Glovebox to ${action}: ${words}`, howToStart },
      cause,
    );
  }
  if (status === 404 && words.startsWith("namespaces ")) {
    const howToStart = `Make it, or set GLOVEBOX_KUBERNETES_NAMESPACE. ${manual}`;
    return unavailableError(engineName, { reason: `Kubernetes failed to ${action}: ${words}.`, howToStart }, cause);
  }
  if (status === 404)
    return new GloveboxError("SANDBOX_LOST", `Kubernetes has lost the pod: failed to ${action}.`, options);
  if (status === 409)
    return new GloveboxError("ALREADY_EXISTS", `Kubernetes has an object of this name: failed to ${action}.`, options);
  if (status === 429 || status >= 500) {
    const reason = `The API server of Kubernetes failed to ${action} (HTTP ${status}).`;
    return unavailableError(
      engineName,
      { reason, howToStart: "Try again when it is ready (`kubectl get --raw /readyz`)." },
      cause,
    );
  }
  return new GloveboxError("UNSUPPORTED", `Kubernetes refuses to ${action}: ${words}`, options);
}
