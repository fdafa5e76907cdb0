import type { OperationEvent, SignalToSend } from "./operation-event.ts";
import type { OperationContract, RequestOf, ResponseOf } from "./operation-contract.ts";

/** Who asks, how to give up, and who receives progress. */
export interface OperationCall {
  /** Everything that the call makes belongs to it. */
  readonly principal: string;
  /**
   * Whether the operator of this machine asks, in person: every live sandbox of the machine's user is then within reach, also
   * another principal's or process's. Default: the principal's own in this process.
   */
  readonly isOperator?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Id of the sandbox that an operation with a fresh one starts, made by the door so that its caller knows it before there
   * is a place for it; default: a new one.
   */
  readonly sandboxId?: string | undefined;
  /** Id of the run that an operation begins, by which its record is found again; default: a new one. */
  readonly runId?: string | undefined;
  /** Calls over one connection share the session that they do not name; undefined for single requests. */
  readonly connection?: string | undefined;
  /** Does the work as a part of the request that asks for it, for those who trace it; default: as it is. */
  readonly within?: (<Result>(work: () => Result) => Result) | undefined;
  /** Standard input of the program as a stream; instead of the request's `stdin`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Sizes of the caller's terminal in characters, each time it changes; for operations that hold one. */
  readonly sizes?: AsyncIterable<{ readonly columns: number; readonly rows: number }> | undefined;
  /** Signals for the program, each as it is wanted; for operations that take them. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
  /** Awaited for output, so that a slow listener slows the program instead of growing the memory. */
  readonly onEvent?: ((event: OperationEvent) => void | Promise<void>) | undefined;
}

/** The one way from a door to what an operation does. @throws GloveboxError when the platform refused or failed */
export type CallOperation = <Contract extends OperationContract>(
  contract: Contract,
  request: RequestOf<Contract>,
  call: OperationCall,
) => Promise<ResponseOf<Contract>>;
