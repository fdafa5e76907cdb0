import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type Tool,
} from "@modelcontextprotocol/server";
import { settlesWithin } from "../base/abort.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
import { callTool, type ToolContext } from "./tools/call-tool.ts";
import { offeredTools, isInProfile, type OfferedTool, type ToolProfile } from "./tools/tool-profiles.ts";
import { toolDeployment, inputSchemaOf, type ToolDeployment } from "./tools/input-schema.ts";
import { viewArtifactTool, sizeOfAnswer, isForAgents } from "./tools/tool-result.ts";
import { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { KeptTexts } from "../calls/kept-texts.ts";
import { Tasks, tasksExtension, withoutContent, timedRequest, setTaskMethods, type RequestTiming } from "./tasks.ts";
import { RunningCalls } from "../calls/running-calls.ts";
import { unknownMethod, inOwnWords } from "./json-rpc.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { jsonSchema, type JsonSchema, type ObjectSchema } from "./tools/json-schema.ts";

/**
 * The tools for `tools/list`, for the deployment if one is given. Hints that equal their defaults are left out; only
 * whether a tool that changes something is destructive is always stated.
 */
export function toolList(offered: readonly OfferedTool[], deployment?: ToolDeployment, viewsArtifacts = false): Tool[] {
  const fromTable = offered.map((row): Tool => {
    const { name, description, tool } = row;
    const { title, readOnly, destructive, idempotent, openWorld } = tool;
    const caveat = deployment === undefined ? null : (tool.caveat?.(deployment) ?? null);
    return {
      name,
      title,
      description: caveat === null ? description : `${description} ${caveat}`,
      inputSchema: inputSchemaOf(row, deployment) as Tool["inputSchema"],
      outputSchema: outputSchemaOf(row),
      annotations: {
        ...(readOnly ? { readOnlyHint: true } : { destructiveHint: destructive }),
        ...(idempotent ? { idempotentHint: true } : {}),
        ...(openWorld ? {} : { openWorldHint: false }),
      },
    };
  });
  return viewsArtifacts ? [...fromTable, viewArtifactTool] : fromTable;
}

/** What an answer has instead of the response if the platform refused or failed. */
const always: Readonly<Record<string, JsonSchema>> = { error: { type: "object" } };

/** What identifies a call that continues. */
const whileRunning: Readonly<Record<string, JsonSchema>> = {
  run_id: { type: "string" },
};

/** Self-explanatory fields that few answers have or few readers need. */
const seldom: ReadonlySet<string> = new Set([
  "oci_runtime",
  "alerts",
  "displays",
  "exception",
  "variables_lost",
  "warnings",
  "restarted",
  "tooling_files",
  "truncated",
  "engine",
  "isolation",
  "memory_used_mb",
  "duration_ms",
  "started_at",
  "ends_at",
  "packages_installed",
  "stdout_dropped_bytes",
  "stderr_dropped_bytes",
]);

/**
 * The structured answer of a tool: its fields and their types. None is required, since answers leave out what is empty, and
 * those that are errors or go on have few; what each means is said in the tool's description and in the answer's text.
 */
function outputSchemaOf({ request, response, tool }: OfferedTool): ObjectSchema {
  const { properties = {} } = jsonSchema(response, "output");
  // Fields that repeat the place or file of the call.
  const isOfCaller = (name: string): boolean => name !== "session_id" && Object.hasOwn(request.shape, name);
  const isShort = Object.keys(properties).length < 5;
  const fields = Object.entries(properties)
    .filter(([name]) => isForAgents(name, properties) && (isShort || !(seldom.has(name) || isOfCaller(name))))
    .map(([name, schema]) => [name, typeOf(schema)] as const);
  return {
    type: "object",
    properties: { ...Object.fromEntries(fields), ...always, ...(tool.mayTakeLong ? whileRunning : {}) },
  };
}

/** Just the type; of a nullable field it is the other type, as null fields are left out. */
function typeOf({ type, anyOf }: JsonSchema): JsonSchema {
  if (type !== undefined) return { type };
  const others = anyOf?.filter((each) => each.type !== "null") ?? [];
  return others.length === 1 && others[0] !== undefined ? typeOf(others[0]) : {};
}

/** Maximum characters of a text that one read returns. */
const maxReadCharacters = 65_536;

/** The long fields of earlier answers, as resources. */
function listResources(texts: KeptTexts, principal: string): ListResourcesResult {
  return {
    resources: texts.list(principal).map(({ uri, operation, field, mediaType, text }) => ({
      uri,
      name: `${field} of ${operation}`,
      description: `${text.length} characters${mediaType === null ? "" : " of base64"}.`,
      mimeType: mediaType ?? "text/plain",
    })),
  };
}

function listResourceTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        name: "Long fields of answers",
        uriTemplate: "glovebox://runs/{run_id}/{field}{?offset}",
        description: `What an answer left out, for 15 minutes: a text ${maxReadCharacters} characters at a time, from offset.`,
      },
    ],
  };
}

/** @throws ProtocolError if there is no such resource (any more) */
function readResource(texts: KeptTexts, principal: string, asked: string): ReadResourceResult {
  const [uri = "", query = ""] = asked.split("?", 2);
  const kept = texts.find(uri, principal);
  if (kept === null) throw notFound(asked);
  if (kept.mediaType !== null) {
    return { contents: [{ uri: asked, mimeType: kept.mediaType, blob: kept.text }] };
  }
  const offset = Number(new URLSearchParams(query).get("offset") ?? 0);
  if (!Number.isSafeInteger(offset) || offset < 0) throw notFound(asked);
  const text = kept.text.slice(offset, offset + maxReadCharacters);
  const end = offset + text.length;
  const rest = end < kept.text.length ? { "glovebox/next": `${uri}?offset=${end}` } : {};
  return {
    contents: [
      { uri: asked, mimeType: "text/plain", text, _meta: { "glovebox/characters": kept.text.length, ...rest } },
    ],
  };
}

function notFound(uri: string): ProtocolError {
  const error = new GloveboxError("NOT_FOUND", `No resource ${JSON.stringify(uri.slice(0, 200))}.`, {
    suggestion: "Answers are kept for 15 minutes; run the tool again. Offsets count characters.",
  });
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { uri, ...error.toWire() });
}

interface McpServerSetup {
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
function createMcpServer(setup: McpServerSetup): McpServer {
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

/** The instructions for every agent that connects to the server. */
const instructions: string = [
  "Glovebox runs untrusted code in sealed sandboxes: computing, parsing, checking, testing and plotting are safe here.",
  "execute_code runs one complete program in a fresh sandbox and removes it: print what you want to know, pass files in with context_files and get files back with artifacts.",
  "run_code runs programs one after another in a session that keeps its files; each call is a fresh program, named by session_id.",
  "create_environment gives a container with a project's folder at /workdir; run_command runs its tools there.",
  "run_tests runs a project's tests on a copy of the project and counts them: read verdict, reason and failures.",
  "start_preview serves a project's page and gives a URL for a browser.",
  "start_process keeps a server or a watcher running in an environment or in the session of run_code, and returns URLs for its ports.",
  'There is no network unless a call asks for it with "network", and then only what the deployment allows.',
  "A failing program is a normal answer: read outcome, exit_code, stderr and error.suggestion, fix the program and run it again. isError means that Glovebox refused or failed; its error.suggestion says what to do.",
  'An answer with status "running" comes with a run_id: call the same tool again with {"run_id": "..."} alone to wait for the rest, or with "cancel": true to end it.',
  "Long fields are cut in the middle and listed in shortened; the full text is a resource for 15 minutes. Better print less, or return a file.",
].join("\n");

export interface McpDoorOptions {
  readonly platform: Platform;
  /** Those that are open to every principal and have a tool form are offered. */
  readonly operations: readonly OperationContract[];
  /** Which of them; default: all. */
  readonly profiles?: readonly ToolProfile[] | undefined;
  /** Version of Glovebox. */
  readonly version: string;
  /** A call that takes longer is answered with its id, and continues. */
  readonly answerWithinMs: number;
}

/** Total size of the answers kept for one principal. */
const maxAnswersCharacters = 64_000_000;
/** Of those kept for all principals together: many keys must not fill the server's memory. */
const maxTotalCharacters = 128_000_000;
/** How long cancelled calls may take to end before their sandboxes are removed by force. */
export const lastCallsMs = 4_000;
/** Time for shutting down, from the first step on; a second of the ten that it may take is left to the process. */
const endWithinMs = 9_000;

/** What all connections of one process share: the platform, the running calls and what answers left out. */
export class McpDoor {
  readonly platform: Platform;
  /** What callers may have on its way; a server shares it with its other doors. */
  readonly inFlight: BytesInFlight = new BytesInFlight();
  readonly #tools: ToolContext;
  readonly #version: string;
  #ending: { readonly calls: Promise<unknown>; readonly sinceMs: number } | undefined;

  constructor({ platform, operations, profiles = ["all"], version, answerWithinMs }: McpDoorOptions) {
    this.platform = platform;
    this.#version = version;
    const { call, alertBook, logger, monotonicMs, now } = platform;
    this.#tools = {
      offered: offeredTools(operations, profiles),
      viewsArtifacts: isInProfile(viewArtifactTool.name, profiles),
      callOperation: call,
      alertBook,
      calls: new RunningCalls(monotonicMs, {
        sizeOf: sizeOfAnswer,
        maxSize: maxAnswersCharacters,
        maxTotalSize: maxTotalCharacters,
      }),
      inFlight: this.inFlight,
      tasks: new Tasks(now),
      texts: new KeptTexts(monotonicMs),
      logger,
      monotonicMs,
      answerWithinMs,
    };
  }

  /** A server for one connection, or for one stateless request; everything that it creates belongs to the principal. */
  createServer(principal: string, connection?: string): McpServer {
    return createMcpServer({
      tools: this.#tools,
      timing: this.platform,
      deployment: toolDeployment(this.platform),
      principal,
      connection,
      version: this.#version,
    });
  }

  /** Ends the session of a closed connection. */
  async endConnection(principal: string, connection: string): Promise<void> {
    try {
      await this.platform.sessions.endConnection({ principal, connection });
    } catch (error) {
      this.platform.logger.error({ err: error }, "the session of a connection could not be removed");
    }
  }

  /** Ends the calls of a principal; their callers are notified. */
  cancelCalls(principal: string): void {
    this.#tools.calls.cancelAll(principal);
  }

  /** Refuses new calls, and waits at most this long for the running ones to end. */
  drainCalls(withinMs: number): Promise<void> {
    return this.#tools.calls.drain(withinMs);
  }

  /** Ends the running calls within 4 s, notifies their callers, and refuses new ones. */
  async endCalls(): Promise<void> {
    this.#ending ??= { sinceMs: this.platform.monotonicMs(), calls: this.#tools.calls.close() };
    await settlesWithin(this.#ending.calls, Math.max(0, lastCallsMs - this.#endingForMs));
  }

  /**
   * Ends the running calls and removes every sandbox, within 9 s of the first `endCalls` whatever the engines do.
   * Resolves to the ids of what may be left, which are also logged.
   */
  async close(): Promise<readonly string[]> {
    await this.endCalls();
    return this.platform.close(Math.max(0, endWithinMs - this.#endingForMs));
  }

  get #endingForMs(): number {
    return this.platform.monotonicMs() - (this.#ending?.sinceMs ?? 0);
  }
}
