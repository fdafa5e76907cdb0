import { toGloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import { E2bRefusal } from "../refusal.ts";

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

export type ConnectCode = keyof typeof statuses;

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
