/** Why the server did not do what was asked, or did not answer. */
export class ApiFailure extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  readonly errorType: string;
  readonly suggestion: string;
  /** When to ask again; null: not said. */
  readonly retryAfterSeconds: number | null;

  constructor(facts: Pick<ApiFailure, "status" | "errorType" | "message" | "suggestion" | "retryAfterSeconds">) {
    super(facts.message);
    ({
      status: this.status,
      errorType: this.errorType,
      suggestion: this.suggestion,
      retryAfterSeconds: this.retryAfterSeconds,
    } = facts);
  }
}

/** The failure that an answer describes, whatever its body is. */
export function failureOfAnswer(status: number, retryAfter: string | null, body: unknown): ApiFailure {
  const { error_type, message, suggestion } = (typeof body === "object" && body !== null ? body : {}) as Readonly<
    Record<string, unknown>
  >;
  const seconds = Number(retryAfter ?? Number.NaN);
  return new ApiFailure({
    status,
    errorType: typeof error_type === "string" ? error_type : "INTERNAL",
    message: typeof message === "string" ? message : `The server answered with status ${status}.`,
    suggestion: typeof suggestion === "string" ? suggestion : "",
    retryAfterSeconds: seconds > 0 ? seconds : null,
  });
}

/** When nothing answered. */
export function failureOfConnection(): ApiFailure {
  return new ApiFailure({
    status: 0,
    errorType: "NETWORK_ERROR",
    message: "The server does not answer.",
    suggestion: "See whether `glovebox serve` still runs. This page goes on by itself when it does.",
    retryAfterSeconds: null,
  });
}
