import { GloveboxError } from "../../errors/glovebox-error.ts";
import type {
  CallOperation,
  OperationCall,
  OperationContract,
  ResponseOf,
} from "../../operations/contract/operation-contract.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { toCamelNames, toCamelPath, toCamelText, toWireNames, type Camel } from "./camel.ts";
import type { CallOptions, RunOptions } from "./call-options.ts";
import { Execution, resultOf, type Result } from "./execution.ts";

/** What the objects are built on: one function, in this process or to a server. */
export interface Caller {
  readonly call: CallOperation;
  /** Everything that the calls create belongs to it; a server identifies its principals by their keys. */
  readonly principal: string;
  readonly throwOnError?: boolean | undefined;
  readonly close: () => Promise<void>;
}

/** Further facts about a call that only some objects have. */
type Further = Pick<OperationCall, "connection" | "sizes" | "signals" | "stdin">;

/** Calls in camelCase. */
export class Calls {
  readonly #caller: Caller;
  #closed: Promise<void> | null = null;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** @throws GloveboxError, with fields named as in the library */
  async send<Contract extends OperationContract>(
    contract: Contract,
    options: object,
    { signal, onEvent, ...further }: CallOptions & Further = {},
  ): Promise<Camel<ResponseOf<Contract>>> {
    if (this.#closed !== null) {
      throw new GloveboxError("INVALID_REQUEST", "This Glovebox has been closed.", { suggestion: "Open another one." });
    }
    const { call, principal } = this.#caller;
    try {
      const request = parseRequest(contract, toWireNames(options, contract.request));
      const response = await call(contract, request, { signal, onEvent, ...further, principal });
      return inLibraryWords(toCamelNames(response, contract.response) as Camel<ResponseOf<Contract>>, contract);
    } catch (error) {
      throw inLibraryNames(error, contract);
    }
  }

  /** A call that runs a program. */
  run<Contract extends OperationContract>(
    contract: Contract,
    options: object,
    { throwOnError = this.#caller.throwOnError, onEvent, ...call }: RunOptions & Further = {},
  ): Execution<Result<Camel<ResponseOf<Contract>>>> {
    return new Execution(async (onOutput) => {
      const response = await this.send(contract, options, {
        ...call,
        onEvent: async (event) => {
          await Promise.all([
            onEvent?.(event),
            event.type === "output" ? onOutput(event.stream, event.bytes) : undefined,
          ]);
        },
      });
      return resultOf(response, throwOnError === true);
    });
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#caller.close());
  }
}

/** The response, with the library's names in its error's suggestion. */
function inLibraryWords<Response>(response: Response, { request }: OperationContract): Response {
  const { error } = response as { readonly error?: { readonly suggestion?: unknown } };
  if (typeof error?.suggestion !== "string") return response;
  return { ...response, error: { ...error, suggestion: toCamelText(error.suggestion, request) } };
}

/** The same error, naming the library's options instead of the wire's fields. */
function inLibraryNames(error: unknown, { request }: OperationContract): unknown {
  if (!(error instanceof GloveboxError) || error.errorType !== "INVALID_REQUEST") return error;
  const { field } = error.context;
  const name = typeof field === "string" ? toCamelPath(field, request) : field;
  if (typeof field !== "string" || typeof name !== "string" || name === field) return error;
  return new GloveboxError("INVALID_REQUEST", error.message.replaceAll(field, name), {
    suggestion: error.suggestion.replaceAll(field, name),
    context: { ...error.context, field: name },
    cause: error,
  });
}
