import type { McpServer, RequestMethod, ServerContext } from "@modelcontextprotocol/server";
import { McpDoor } from "../../../src/mcp/mcp-door.ts";
import { fixtureContents } from "./fixture-contents.ts";
import { completePrompt, fixturePrompts, getPrompt } from "./fixture-prompts.ts";
import { fixtureCalls } from "./fixture-calls.ts";

/**
 * Our door, plus what the conformance suite asks for and Glovebox does not offer: prompts, completion, subscriptions, fixed
 * resources, and tools with kinds of answers that Glovebox never gives. All other requests go to our own handlers.
 */
export class FixtureDoor extends McpDoor {
  override createServer(principal: string, connection?: string): McpServer {
    const mcp = super.createServer(principal, connection);
    const { server } = mcp;
    server.registerCapabilities({ prompts: {}, completions: {}, resources: { subscribe: true } });
    server.setRequestHandler("prompts/list", () => ({ prompts: [...fixturePrompts] }));
    server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params));
    server.setRequestHandler("completion/complete", ({ params }) => completePrompt(params));
    const watched = new Set<string>();
    server.setRequestHandler("resources/subscribe", ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      if (!watched.delete(params.uri)) throw new Error(`${params.uri} was never subscribed to.`);
      return {};
    });
    const ownRead = handlerOf(mcp, "resources/read");
    server.setRequestHandler("resources/read", async (request, context) => {
      const contents = fixtureContents(request.params.uri);
      return contents === null ? ((await ownRead(request, context)) as never) : { contents };
    });
    const ownCall = handlerOf(mcp, "tools/call");
    server.setRequestHandler("tools/call", async (request, context) => {
      const { name, arguments: given = {} } = request.params;
      const call = Object.hasOwn(fixtureCalls, name) ? fixtureCalls[name] : undefined;
      return call === undefined
        ? ((await ownCall(request, context)) as never)
        : { content: await call(context.mcpReq, given) };
    });
    return mcp;
  }
}

type AnyHandler = (request: unknown, context: ServerContext) => Promise<unknown>;

/** The handler that our own code has set; the SDK has no public way to get it. */
function handlerOf({ server }: McpServer, method: RequestMethod): AnyHandler {
  const handlers = Reflect.get(server, "_requestHandlers") as ReadonlyMap<string, AnyHandler>;
  const handler = handlers.get(method);
  if (handler === undefined) throw new Error(`Our server has no handler of ${method}.`);
  return handler;
}
