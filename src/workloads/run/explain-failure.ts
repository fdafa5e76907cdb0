import { canonicalName } from "../../policy/network/domain-name.ts";
import { hostChosen } from "../../policy/network/egress-policy.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** How the kernel's refusals appear in the last lines that Python, Node and Bun write before they give up. */
const patterns: readonly { readonly type: "network" | "permission"; readonly words: RegExp }[] = [
  // The messages of our own guards, at isolation level `preload`.
  { type: "network", words: /\bglovebox: network\b/ },
  {
    type: "network",
    words: /\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ConnectionRefused|FailedToOpenSocket)\b/,
  },
  {
    type: "network",
    words:
      /\b(gaierror|Network is unreachable|No route to host|Name or service not known|Temporary failure in name resolution|Could not resolve host|Connection refused|Unable to connect)\b/,
  },
  {
    type: "permission",
    words:
      /\b(PermissionError|ERR_ACCESS_DENIED|EACCES|EPERM|EROFS|Read-only file system|Permission denied|Operation not permitted)\b/,
  },
];

/** How Node and Bun, curl, and Python's usual clients name the host that they looked up. */
const lookedUp =
  /\b(?:(?:ENOTFOUND|EAI_AGAIN) |Could not resolve host: |Failed to resolve '|host=')([A-Za-z0-9.-]{1,253})(?![\w.-])/;

/** Only the end of stderr counts: an uncaught error is there, whatever the program printed before. */
const lastLines = 12;

/**
 * Why a program that failed by itself most likely did, when its last words say that the sandbox refused something;
 * null otherwise. It explains; the verdict stays "failed".
 */
export function explainFailure(stderr: string, network: NetworkPolicy["kind"] = "none"): GloveboxError | null {
  const tail = stderr.trimEnd().split("\n").slice(-lastLines).join("\n");
  const found = patterns.find(({ words }) => words.test(tail));
  const line =
    found &&
    tail
      .split("\n")
      .findLast((text) => found.words.test(text))
      ?.trim()
      .slice(0, 300);
  if (found === undefined || line === undefined) return null;
  if (found.type === "network") {
    return new GloveboxError("NETWORK_ERROR", `A connection failed and the program with it: ${line}`, {
      suggestion:
        network === "none"
          ? `This run has no network (policy "none"). ${wayToHost(tail)}, or give the program its data as context files or stdin.`
          : "Only HTTP and HTTPS through the proxy of HTTP_PROXY and HTTPS_PROXY lead out of this sandbox: use a client that honours them.",
      context: { network },
    });
  }
  return new GloveboxError("PERMISSION_DENIED", `The sandbox refused something and the program failed: ${line}`, {
    suggestion:
      "Write to the working folder or /tmp only (the rest is read-only), run nothing that needs privileges, or ask for the permission.",
  });
}

/** The program wrote the text: a name from it is one in strict form, and no more than what the program chose. */
function wayToHost(text: string): string {
  const name = canonicalName(lookedUp.exec(text)?.[1] ?? "");
  return name === null ? "Name the hosts that it needs in the run's network" : hostChosen(name);
}
