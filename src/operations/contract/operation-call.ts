import type { OperationEvent, SignalToSend } from "./operation-event.ts";
import type { OperationContract, RequestOf, ResponseOf } from "./operation-contract.ts";

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
