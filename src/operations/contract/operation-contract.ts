import type { z } from "zod";
import type { OperationEvent, SignalToSend } from "./wire-values.ts";
import type { LimitsRequest } from "./request-schemas.ts";

/** Where an operation is served over HTTP. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts in braces are fields of the request: `/api/environments/{env_id}`. */
  readonly path: string;
}

/** Where the content of an operation goes over HTTP by itself, as bytes. */
interface ByteRoutes {
  /** `down`: the call's output, with GET; `up`: the call's standard input, with PUT. */
  readonly direction: "down" | "up";
  /** Braces as in routes; no other field of the request can be given there, except the part of a download (`Range`). */
  readonly paths: readonly string[];
}

/** Whether a route's fields are in its body, except those in its path; otherwise they are in the query. */
export function takesBody({ method }: Pick<Route, "method">): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/** Facts about the deployment that a tool's description may mention. */
export interface Deployment {
  /** The weakest isolation that programs of sessions run at. */
  readonly sessionIsolation: string;
}

/** How an operation appears as an MCP tool; the tool's name and description are the operation's. */
export interface ToolForm<Response = unknown> {
  /** Two or three words for people, such as `Run a program`. */
  readonly title: string;
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It may undo or overwrite what existed before the call. */
  readonly destructive: boolean;
  /** Repeating the call has no further effect. */
  readonly idempotent: boolean;
  /** It may reach beyond the sandboxes, such as the internet. */
  readonly openWorld: boolean;
  /** It may take longer than the minute that clients wait: it then answers with a `run_id` and continues. */
  readonly mayTakeLong: boolean;
  /** Default fields of a call. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** An additional sentence of its description, if this deployment needs one. */
  caveat?(deployment: Deployment): string | null;
  /** The answer in a few lines, for an agent to read; its long strings have already been shortened. */
  text(response: Response): string;
  /** Where to continue reading if the answer's list was cut; missing: it cannot be continued. */
  readOn?(shown: Response): Partial<Response>;
  /** Pictures in the answer that a model may look at, small enough for that; gets the full response. */
  images?(response: Response): readonly ToolImage[];
}

/** How a tool is to be seen that does nothing of this; spread before what it does. */
export const quietTool = {
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: false,
  mayTakeLong: false,
} as const;

/** The same of one that only looks. */
export const readingTool = { ...quietTool, readOnly: true, idempotent: true } as const;

/** A picture as agents get it. */
export interface ToolImage {
  readonly base64: string;
  readonly mediaType: string;
}

/** What an operation is, for every front end: its request, its response, and how each kind of client sees it. */
export interface OperationContract<Request extends z.ZodObject = z.ZodObject, Response extends z.ZodType = z.ZodType> {
  /** snake_case and unique; the MCP tool's name where there is one. */
  readonly name: string;
  /**
   * Who may call it: every principal at every front end, or only the operator of this machine, who owns everything on
   * it.
   */
  readonly audience: "everyone" | "local";
  /** What it does and when to use it, for documentation and agents. */
  readonly description: string;
  readonly request: Request;
  readonly response: Response;
  /**
   * Its requests carry programs, files or other long texts: their body may have 16 MiB. Default false: 1 MiB, which
   * every other request fits into.
   */
  readonly carriesContent?: boolean;
  /** Each call has its own sandbox, whose id `OperationCall.sandboxId` may set; default false. */
  readonly freshSandbox?: boolean;
  /**
   * Path of the WebSocket for what a request alone cannot carry: input as it comes, sizes of a terminal, signals
   * (`wire-messages.ts`). Braces as in routes. Missing: it has none.
   */
  readonly channel?: string;
  /** Content as `application/octet-stream` over HTTP, of any size. Missing: it has none. */
  readonly bytes?: ByteRoutes;
  /** Several if a request may name a session or an environment; none: HTTP offers at most its channel. */
  readonly routes: readonly Route[];
  /** Missing: it is not offered to agents. */
  readonly tool?: ToolForm<z.output<Response>>;
}

/** A request that has been checked by the contract's schema. */
export type RequestOf<Contract extends OperationContract> = z.output<Contract["request"]>;
export type ResponseOf<Contract extends OperationContract> = z.output<Contract["response"]>;

/** The contract itself; its types follow from its schemas. */
export function defineOperation<Request extends z.ZodObject, Response extends z.ZodType>(
  contract: OperationContract<Request, Response>,
): OperationContract<Request, Response> {
  return contract;
}

/** The routes of an operation on what a session or an environment has. */
export function placeRoutes(method: Route["method"], path: string): readonly Route[] {
  return ["/api/sessions/{session_id}", "/api/environments/{env_id}"].map((place) => ({
    method,
    path: `${place}${path}`,
  }));
}

/** What is known of content before it comes. */
export interface ContentHead {
  /** Of the whole content; null if what is sent may have another size, because values of secrets are removed from it. */
  readonly sizeBytes: number | null;
  /** First byte that is sent. */
  readonly offset: number;
  /** Bytes that are sent; null as `sizeBytes`. */
  readonly length: number | null;
}

/** Who is calling, how to abort, and who receives progress. */
export interface OperationCall {
  /** Everything that the call creates belongs to it. */
  readonly principal: string;
  /**
   * Whether the caller is the operator of this machine: every live sandbox of the machine's user is then accessible,
   * including those of other principals and processes. Default: the principal's own in this process.
   */
  readonly isOperator?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Id for the fresh sandbox that the operation starts, chosen by the front end so that its caller knows it while still
   * waiting for capacity; default: a new one.
   */
  readonly sandboxId?: string | undefined;
  /** Id for the run that the operation starts, by which its record can be found; default: a new one. */
  readonly runId?: string | undefined;
  /** Calls over one connection that name no session share one; undefined for single requests. */
  readonly connection?: string | undefined;
  /** Wraps the work so that it is traced as part of its request; default: no wrapper. */
  readonly within?: (<Result>(work: () => Result) => Result) | undefined;
  /** Standard input of the program as a stream; instead of the request's `stdin`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Sizes of the caller's terminal in characters, each time it changes; for operations that hold one. */
  readonly sizes?: AsyncIterable<{ readonly columns: number; readonly rows: number }> | undefined;
  /** Signals for the program, sent as they come; for operations that take them. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
  /** Called once, before the first output of an operation that sends content; what it throws ends the call. */
  readonly onContent?: ((head: ContentHead) => void) | undefined;
  /** Awaited for output, so that a slow listener slows the program instead of growing the memory. */
  readonly onEvent?: ((event: OperationEvent) => void | Promise<void>) | undefined;
}

/** The only way from a front end to an operation's work. @throws GloveboxError if the platform refuses or fails */
export type CallOperation = <Contract extends OperationContract>(
  contract: Contract,
  request: RequestOf<Contract>,
  call: OperationCall,
) => Promise<ResponseOf<Contract>>;

/**
 * What a caller may do, if that is less than the deployment allows. It never allows more than the deployment does:
 * `null` means as much as the deployment.
 */
export interface Grant {
  /** Sandboxes at a time, including those of sessions and environments. */
  readonly maxSandboxes: number | null;
  /** Ceilings of the limits that a request may ask for; a missing field means the deployment's. */
  readonly ceilings: LimitsRequest;
  /** Names of engines. */
  readonly engines: readonly string[] | null;
  /** Allowed words and domains for `network`; `none` is always allowed. */
  readonly networks: readonly string[] | null;
  /** References of images, and registries as `HOST[:PORT]/*`, beside the configured ones; null: `images.allow`. */
  readonly images: readonly string[] | null;
  /** Names of the deployment's secrets. */
  readonly secrets: readonly string[] | null;
  /** Folders below which host paths may be named, absolute or from `~/`; within the deployment's own roots. */
  readonly mountRoots: readonly string[] | null;
}

/**
 * What a principal may do; null: everything the deployment allows, including what is reserved for its operator.
 * @throws PERMISSION_DENIED for the principal of a key that is not in force
 */
export type GrantOf = (principal: string) => Grant | null;

/** A body that is a request as one line of JSON, a line feed, and then the program's standard input as it comes, to its end. */
export const inputType = "application/vnd.glovebox.input";

/** Whether requests of an operation may have standard input. */
export function takesInput({ request }: Pick<OperationContract, "request">): boolean {
  return "stdin" in request.shape;
}
