import { Client, type CallToolResult, type RequestOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { gloveboxCommand } from "./glovebox-command.ts";
import { testImages } from "./test-images.ts";

/** Revisions of the protocol, with the options that make the SDK's client speak only that one. */
export const revisions = [
  { revision: "2025-11-25", mode: "legacy" },
  { revision: "2026-07-28", mode: { pin: "2026-07-28" } },
] as const;
export type Revision = (typeof revisions)[number];

/** Environment of a `glovebox` process that tests start. */
export function gloveboxEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    GLOVEBOX_IMAGE_PYTHON: testImages.python,
    GLOVEBOX_IMAGE_JAVASCRIPT: testImages.javascript,
    GLOVEBOX_IMAGE_TYPESCRIPT: testImages.typescript,
    // Tests count sandboxes.
    GLOVEBOX_WARM_POOL: "off",
    ...more,
  };
}

export interface McpConnection {
  readonly client: Client;
  readonly pid: number;
  call(tool: string, request: Record<string, unknown>, options?: RequestOptions): Promise<CallToolResult>;
}

/** A client of the SDK, connected to `glovebox mcp` over stdio. */
export async function connectMcp(
  { mode }: Pick<Revision, "mode">,
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<McpConnection> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: gloveboxCommand,
    args: ["mcp", ...argv],
    env: gloveboxEnvironment(environment),
    stderr: "inherit",
  });
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    call: (name, request, options) => client.callTool({ name, arguments: request }, options),
  };
}
