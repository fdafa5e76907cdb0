import { session, sessionIsOpen, signOut } from "./session.ts";
import { failureOfAnswer, failureOfConnection } from "./api-failure.ts";

/** An answer that takes longer will not come. */
const answerWithinMs = 60_000;

export interface AskOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly signal?: AbortSignal;
}

/** One request to the API, with the token in a header. @throws ApiFailure; an AbortError when the signal aborts */
export async function ask<Answer>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  { query = {}, signal }: AskOptions = {},
): Promise<Answer> {
  const { token } = session.value;
  const late = AbortSignal.timeout(answerWithinMs);
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  const search = parameters.size === 0 ? "" : `?${parameters}`;
  let answer: Response;
  let body: unknown;
  try {
    answer = await fetch(`${path}${search}`, {
      method,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
    body = await answer.json().catch((error: unknown) => {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof DOMException && error.name === "AbortError" ? error : failureOfConnection();
  }
  if (answer.status === 401) {
    // A request that began before somebody signed in again changes nothing.
    if (token === session.value.token)
      signOut(token === "" ? undefined : "The server does not know this token or key.");
  } else sessionIsOpen();
  if (!answer.ok) throw failureOfAnswer(answer.status, answer.headers.get("retry-after"), body);
  return body as Answer;
}

/** A path below `/api/sandbox`, whatever the id holds. */
export function sandboxPath(id: string, rest = ""): string {
  return `/api/sandbox/${encodeURIComponent(id)}${rest}`;
}
