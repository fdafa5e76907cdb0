import {
  CLIENT_CAPABILITIES_META_KEY,
  isJSONRPCRequest,
  type ClientCapabilities,
  type JSONRPCErrorResponse,
} from "@modelcontextprotocol/server";
import { notDeclared } from "./task-methods.ts";
import { tasksExtension } from "./tasks.ts";

/**
 * The error for a `subscriptions/listen` that asks for the ends of tasks without declaring the extension, which the SDK
 * would accept without them; null for every other message.
 */
export function refuseTaskSubscription(message: unknown): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message) || message.method !== "subscriptions/listen") return null;
  const { notifications, _meta: meta } = (message.params ?? {}) as {
    readonly notifications?: { readonly taskIds?: unknown } | null;
    readonly _meta?: Readonly<Record<string, ClientCapabilities | undefined>>;
  };
  const capabilities = meta?.[CLIENT_CAPABILITIES_META_KEY];
  // Without capabilities it is of a revision that has no subscriptions.
  if (notifications?.taskIds === undefined || typeof capabilities !== "object") return null;
  if (capabilities.extensions?.[tasksExtension] !== undefined) return null;
  const { code, message: text, data } = notDeclared();
  return { jsonrpc: "2.0", id: message.id, error: { code, message: text, data } };
}
