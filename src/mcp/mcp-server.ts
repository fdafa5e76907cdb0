import { McpServer, type Transport } from "@modelcontextprotocol/server";
import { callTool, type ToolContext } from "./tools/call-tool.ts";
import { instructions } from "./instructions.ts";
import { unknownMethod, inOwnWords } from "./protocol-errors.ts";
import { listResources, listResourceTemplates, readResource } from "./resources.ts";
import { timedRequest, type RequestTiming } from "./timed-request.ts";
import type { ToolDeployment } from "./tools/schemas/tool-deployment.ts";
import { setTaskMethods } from "./tasks/task-methods.ts";
import { tasksExtension, withoutContent } from "./tasks/tasks.ts";
import { toolList } from "./tools/tool-list.ts";

export interface McpServerSetup {
  readonly tools: ToolContext;
  readonly timing: RequestTiming;
  readonly deployment: ToolDeployment;
  /** Owner of its calls, sandboxes and resources. */
  readonly principal: string;
  /** Names the connection, whose calls share a session; undefined for single requests. */
  readonly connection: string | undefined;
  /** Version of Glovebox. */
  readonly version: string;
}

/**
 * The server of one connection, or of one stateless request; it holds no state of its own.
 *
 * The handlers are set directly: the SDK's tool registry answers unknown tools and bad arguments in its own form.
 */
export function createMcpServer(setup: McpServerSetup): McpServer {
  const { tools, timing, deployment, principal, connection, version } = setup;
  const mcp = new GloveboxMcpServer(
    { name: "glovebox", title: "Glovebox", version },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        logging: {},
        extensions: { [tasksExtension]: {} },
      },
      instructions,
    },
  );
  const { server } = mcp;
  const list = toolList(tools.offered, deployment, tools.viewsArtifacts);
  server.setRequestHandler("tools/list", ({ method }, { mcpReq: message }) =>
    timedRequest(timing, { method, tool: null, message }, () => ({ tools: list })),
  );
  server.setRequestHandler("tools/call", ({ method, params }, context) => {
    const tool = tools.offered.find(({ name }) => name === params.name)?.name ?? null;
    return timedRequest(timing, { method, tool, message: context.mcpReq }, () =>
      callTool(tools, params, { principal, connection, server: context }),
    );
  });
  server.setRequestHandler("resources/list", () => listResources(tools.texts, principal));
  server.setRequestHandler("resources/templates/list", () => listResourceTemplates());
  server.setRequestHandler("resources/read", ({ method, params }, { mcpReq: message }) =>
    timedRequest(timing, { method, tool: null, message }, () => readResource(tools.texts, principal, params.uri)),
  );
  setTaskMethods(mcp, { ...tools, timing, principal });
  server.fallbackRequestHandler = ({ method }) => Promise.reject(unknownMethod(method));
  return mcp;
}

class GloveboxMcpServer extends McpServer {
  override connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withoutContent(inOwnWords(message)), options);
    return super.connect(transport);
  }
}
