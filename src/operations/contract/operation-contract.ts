import type { z } from "zod";

/** Where an operation is served over HTTP. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts in braces are fields of the request: `/api/environments/{env_id}`. */
  readonly path: string;
}

/** Where the content of an operation goes over HTTP by itself, as bytes. */
export interface ByteRoutes {
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
   * (`live-messages.ts`). Braces as in routes. Missing: it has none.
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
