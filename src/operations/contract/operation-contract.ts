import type { z } from "zod";

/** Where an operation is reached over HTTP. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts in braces are fields of the request: `/api/environments/{env_id}`. */
  readonly path: string;
}

/** Whether a route's fields are in its body, but for those in its path; of others they are in the query. */
export function takesBody({ method }: Pick<Route, "method">): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/** What a tool's form may tell of the deployment that offers it. */
export interface Deployment {
  /** The weakest isolation that programs of sessions run at. */
  readonly sessionIsolation: string;
}

/** How an agent meets an operation as an MCP tool; the tool's name and description are the operation's. */
export interface ToolForm<Response = unknown> {
  /** Two or three words for people, such as `Run a program`. */
  readonly title: string;
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It may undo or overwrite what existed before the call. */
  readonly destructive: boolean;
  /** The same call once more changes nothing more. */
  readonly idempotent: boolean;
  /** It may reach beyond the sandboxes, such as the internet. */
  readonly openWorld: boolean;
  /** It may outlast the minute that clients wait: it then answers with a `run_id` and goes on. */
  readonly mayTakeLong: boolean;
  /** Fields that a call has which names none of its own. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** A further sentence of its description, where this deployment makes one necessary. */
  caveat?(deployment: Deployment): string | null;
  /** The answer in a few lines, for an agent to read; its long strings are cut already. */
  text(response: Response): string;
  /** Where to read on after the items that are left of an answer whose list was cut; missing: it has no such place. */
  readOn?(shown: Response): Partial<Response>;
  /** Pictures in the answer that a model may look at, small enough for that; the response is whole here. */
  images?(response: Response): readonly ToolImage[];
}

/** A picture as agents get it. */
export interface ToolImage {
  readonly base64: string;
  readonly mediaType: string;
}

/** What an operation is, for every door: the question, the answer, and how each kind of client meets it. */
export interface OperationContract<Request extends z.ZodObject = z.ZodObject, Response extends z.ZodType = z.ZodType> {
  /** snake_case and unique; the MCP tool's name where there is one. */
  readonly name: string;
  /** Who may ask: every principal at every door, or only the operator of this machine, to whom all of it belongs. */
  readonly audience: "everyone" | "local";
  /** What it does and when to use it, for documentation and agents. */
  readonly description: string;
  readonly request: Request;
  readonly response: Response;
  /** Each call has a sandbox of its own, which `OperationCall.sandboxId` may name beforehand; default false. */
  readonly freshSandbox?: boolean;
  /**
   * Path of the WebSocket by which it is reached with what a request alone cannot carry: input as it comes, sizes of a terminal,
   * signals (`live-messages.ts`). Parts in braces as in routes. Missing: it has none.
   */
  readonly channel?: string;
  /** Several where a request may name a session or an environment; none: HTTP offers at most its channel. */
  readonly routes: readonly Route[];
  /** Missing: agents are not offered it. */
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
