import type { E2bContext } from "../../e2b-context.ts";
import type { Exchange } from "../../http/exchange.ts";
import { E2bRefusal } from "../../http/refusal.ts";
import type { E2bSandbox } from "../../sandboxes/e2b-sandbox.ts";
import { hasExpired, isSignature, type SignedFile } from "./signature.ts";

/** The user whose home the files are in; others have none here. */
const user = "user";

/**
 * The sandbox whose file a request may read or write: it shows its token, or a signature made with it. A link names no
 * sandbox: its signature finds it.
 * @throws E2bRefusal 401
 */
export function sandboxOfFile(
  { sandboxes, platform }: E2bContext,
  { request, query }: Exchange,
  named: E2bSandbox | null,
): E2bSandbox {
  const username = query.get("username") ?? "";
  const { "x-access-token": token } = request.headers;
  if (token !== undefined) {
    const isRight = named !== null && typeof token === "string" && sandboxes.isToken(named, token);
    if (!isRight) throw new E2bRefusal(401, "invalid access token");
    return ofUser(named, username);
  }
  const signature = query.get("signature");
  if (signature === null || signature === "") throw new E2bRefusal(401, "missing signature query parameter");
  const file: SignedFile = {
    ...{ path: query.get("path") ?? "", username },
    operation: request.method === "GET" ? "read" : "write",
    expiration: query.get("signature_expiration"),
  };
  const among = named === null ? sandboxes.list() : [named];
  const sandbox = among.find((each) => isSignature(signature, file, each.token));
  if (sandbox === undefined) throw new E2bRefusal(401, "invalid signature");
  if (hasExpired(file, platform.now())) throw new E2bRefusal(401, "signature is already expired");
  return ofUser(sandbox, username);
}

/** @throws E2bRefusal 401 for another user than the sandbox's own */
function ofUser(sandbox: E2bSandbox, username: string): E2bSandbox {
  if (username === "" || username === user) return sandbox;
  throw new E2bRefusal(401, `error looking up user '${username.slice(0, 80)}': only ${user} is served`);
}
