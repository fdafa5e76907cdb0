import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";

/** A refusal in E2B's form: the SDKs read the status from the body too. */
export class E2bRefusal extends Error {
  override readonly name = "E2bRefusal";
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  /** `fields`: what the body has in addition to `code` and `message`. */
  constructor(status: number, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** No sandbox of the caller has that id: unknown, ended, or another key's, which look the same. */
export function noSandbox(id: string): E2bRefusal {
  return new E2bRefusal(404, `sandbox "${id.slice(0, 80)}" does not exist or has ended`);
}

/** What tells the SDKs that a sandbox is not running. */
export function notRunning(id: string): E2bRefusal {
  return new E2bRefusal(502, "The sandbox was not found", { sandboxId: id.slice(0, 80) });
}

/** What E2B has and this server has not: refused, never ignored. */
export function notServed(what: string, instead: string): E2bRefusal {
  return new E2bRefusal(501, `${what} is not served by Glovebox. ${instead}`);
}

/** The same for a field of a request that is served otherwise. */
export function fieldNotServed(field: string, why: string): E2bRefusal {
  return new E2bRefusal(400, `${field} is not served by Glovebox: ${why}`);
}

/** What a client is answered. */
interface RefusedAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to any error; an unexpected one shows nothing of itself. */
export function answerOfError(error: unknown): RefusedAnswer {
  if (error instanceof E2bRefusal) {
    const { status, message, fields } = error;
    return { status, body: { ...fields, code: status, message }, headers: {} };
  }
  const known = toGloveboxError(error);
  const status = errorCatalogue[known.errorType].httpStatus;
  const { retry_after_seconds: seconds } = known.context;
  const headers: Record<string, string> = typeof seconds === "number" ? { "retry-after": String(seconds) } : {};
  const message = `${known.message} ${known.suggestion}`.trim();
  return { status, body: { code: status, message, error_code: known.errorType }, headers };
}

/** Codes of the Connect protocol that are used, with their HTTP status in unary answers. */
const statuses = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
} as const;

type ConnectCode = keyof typeof statuses;

/** An error in the form of the Connect protocol. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly code: ConnectCode;

  constructor(code: ConnectCode, message: string) {
    super(message);
    this.code = code;
  }

  get status(): number {
    return statuses[this.code];
  }

  toWire(): { readonly code: ConnectCode; readonly message: string } {
    return { code: this.code, message: this.message };
  }
}

const codes: Partial<Record<ErrorType, ConnectCode>> = {
  INVALID_REQUEST: "invalid_argument",
  NOT_FOUND: "not_found",
  ALREADY_EXISTS: "already_exists",
  CAPACITY: "resource_exhausted",
  PERMISSION_DENIED: "permission_denied",
  POLICY_DENIED: "permission_denied",
  CANCELLED: "canceled",
  TIMEOUT: "deadline_exceeded",
  SANDBOX_LOST: "unavailable",
  UNSUPPORTED: "unimplemented",
  UNIMPLEMENTED: "unimplemented",
};

const codesOfStatus: Readonly<Record<number, ConnectCode>> = {
  400: "invalid_argument",
  401: "unauthenticated",
  404: "not_found",
  413: "resource_exhausted",
  501: "unimplemented",
};

/** Any error in that form; an unexpected one shows nothing of itself. */
export function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof E2bRefusal) return new ConnectError(codesOfStatus[error.status] ?? "internal", error.message);
  const { errorType, message, suggestion } = toGloveboxError(error);
  return new ConnectError(codes[errorType] ?? "internal", `${message} ${suggestion}`.trim());
}
