import type { z } from "zod";
import type { Platform } from "../platform/platform.ts";
import type { Operation } from "./operation.ts";

/** How an agent meets an operation as a tool; the tool's name and description are the operation's. */
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
  /** A further sentence of its description, where this deployment makes one necessary. */
  caveat?(platform: Pick<Platform, "minIsolation">): string | null;
  /** The answer in a few lines, for an agent to read; its long strings are cut already. */
  text(response: Response): string;
  /** Pictures in the answer that a model may look at, small enough for that; the response is whole here. */
  images?(response: Response): readonly ToolImage[];
}

/** A picture as agents get it. */
export interface ToolImage {
  readonly base64: string;
  readonly mediaType: string;
}

/** An operation as every door sees it. */
export interface OperationRow {
  readonly operation: Operation<z.ZodObject, z.ZodType, Platform>;
  /** Missing: agents are not offered it. */
  readonly tool?: ToolForm;
}

/** A row, with the text form held to the operation's own response. */
export function operationRow<Request extends z.ZodObject, Response extends z.ZodType>(
  operation: Operation<Request, Response, Platform>,
  tool?: ToolForm<z.output<Response>>,
): OperationRow {
  return tool === undefined ? { operation } : { operation, tool };
}
