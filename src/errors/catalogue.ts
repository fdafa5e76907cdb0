/** One row of the catalogue. */
export interface ErrorRow {
  /** HTTP status of a request that fails with it. */
  readonly httpStatus: number;
  /** JSON-RPC error code for an MCP request that fails with it. */
  readonly jsonRpcCode: number;
  /** Whether the same request may succeed when retried unchanged. */
  readonly retryable: boolean;
  /** What an agent can do about it, unless the code that throws has better advice. */
  readonly suggestion: string;
}

/** Name of an error type, as clients see it in `error_type`. */
export type ErrorType =
  | "TIMEOUT"
  | "OOM_KILLED"
  | "NETWORK_ERROR"
  | "PERMISSION_DENIED"
  | "SYNTAX_ERROR"
  | "ENGINE_UNAVAILABLE"
  | "IMAGE_UNAVAILABLE"
  | "PACKAGE_INSTALL_FAILED"
  | "INVALID_REQUEST"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "CAPACITY"
  | "UNSUPPORTED"
  | "CANCELLED"
  | "POLICY_DENIED"
  | "SANDBOX_LOST"
  | "UNIMPLEMENTED"
  | "INTERNAL";

/** What each error type means to a front end. */
export const errorCatalogue: Readonly<Record<ErrorType, ErrorRow>> = {
  TIMEOUT: {
    httpStatus: 408,
    jsonRpcCode: -32001,
    retryable: false,
    suggestion: "Simplify the code so that it does less work, or raise its timeout.",
  },
  OOM_KILLED: {
    httpStatus: 422,
    jsonRpcCode: -32002,
    retryable: false,
    suggestion: "Use less memory (work in smaller pieces or stream the data), or raise its memory limit.",
  },
  NETWORK_ERROR: {
    httpStatus: 502,
    jsonRpcCode: -32003,
    retryable: true,
    suggestion: "Check connectivity and the run's network policy, then retry.",
  },
  PERMISSION_DENIED: {
    httpStatus: 403,
    jsonRpcCode: -32004,
    retryable: false,
    suggestion: "Ask for permission, or use an alternative that does not need it.",
  },
  SYNTAX_ERROR: {
    httpStatus: 422,
    jsonRpcCode: -32005,
    retryable: false,
    suggestion: "Fix that line and run the code again.",
  },
  ENGINE_UNAVAILABLE: {
    httpStatus: 503,
    jsonRpcCode: -32006,
    retryable: true,
    suggestion: "Start or install a container engine, or choose another one.",
  },
  IMAGE_UNAVAILABLE: {
    httpStatus: 502,
    jsonRpcCode: -32007,
    retryable: true,
    suggestion: "Check the image's name and tag and that the registry can be reached, or name another image.",
  },
  PACKAGE_INSTALL_FAILED: {
    httpStatus: 422,
    jsonRpcCode: -32008,
    retryable: false,
    suggestion: "Check the package's name and version, or do not use it.",
  },
  INVALID_REQUEST: {
    httpStatus: 400,
    jsonRpcCode: -32602,
    retryable: false,
    suggestion: "Correct the named field and send the request again.",
  },
  NOT_FOUND: {
    httpStatus: 404,
    jsonRpcCode: -32009,
    retryable: false,
    suggestion: "Check the id; list what exists to find the right one.",
  },
  ALREADY_EXISTS: {
    httpStatus: 409,
    jsonRpcCode: -32010,
    retryable: false,
    suggestion: "Choose another name, or use or remove the existing one.",
  },
  CAPACITY: {
    httpStatus: 429,
    jsonRpcCode: -32011,
    retryable: true,
    suggestion: "Wait for the given time and retry, or end sandboxes you no longer need.",
  },
  UNSUPPORTED: {
    httpStatus: 422,
    jsonRpcCode: -32012,
    retryable: false,
    suggestion: "Choose an engine that can enforce this, or drop the requirement.",
  },
  CANCELLED: {
    httpStatus: 499,
    jsonRpcCode: -32013,
    retryable: true,
    suggestion: "Send the request again if you still need its result.",
  },
  POLICY_DENIED: {
    httpStatus: 403,
    jsonRpcCode: -32014,
    retryable: false,
    suggestion: "Ask the operator to allow it, or stay within the policy.",
  },
  SANDBOX_LOST: {
    httpStatus: 503,
    jsonRpcCode: -32015,
    retryable: true,
    suggestion: "The sandbox ended for a reason outside the code; retry.",
  },
  UNIMPLEMENTED: {
    httpStatus: 501,
    jsonRpcCode: -32601,
    retryable: false,
    suggestion: "Use one of the supported operations.",
  },
  INTERNAL: {
    httpStatus: 500,
    jsonRpcCode: -32603,
    retryable: true,
    suggestion: "This is a bug in Glovebox; retry, and report it with the server's log if it persists.",
  },
};
