import { sendNothing, type Exchange } from "../http/exchange.ts";
import { E2bRefusal, notServed } from "../http/refusal.ts";
import type { E2bContext } from "../e2b-context.ts";
import { findTarget } from "./gateway.ts";

/** Answers a request to E2B's daemon in a sandbox. @throws E2bRefusal, what the operations throw */
export async function serveSandbox(context: E2bContext, exchange: Exchange): Promise<void> {
  const { sandbox } = await findTarget(context, exchange);
  const { request, response, path } = exchange;
  if (request.method === "GET" && path === "/health") return sendNothing(response);
  const { "x-access-token": token } = request.headers;
  if (typeof token !== "string" || !context.sandboxes.isToken(sandbox, token)) {
    throw new E2bRefusal(401, "expected the sandbox's token in the header X-Access-Token");
  }
  throw notServed(path.slice(0, 200), "Only its control API is.");
}
