import { signal, type Signal } from "@preact/signals";

/** Who this page is to the server. */
interface Session {
  /** `unknown`: nothing was asked yet; `open`: the server accepts our requests. */
  readonly state: "unknown" | "open" | "signed-out";
  /** Sent with each request in a header; empty: none. */
  readonly token: string;
  /** Why it is signed out, if somebody should know. */
  readonly problem?: string;
}

/** In this tab and of this origin only, unlike a cookie: nothing else can make a browser send it. */
const storageKey = "glovebox.token";
/** What a header can hold. */
const tokenForm = /^[\x21-\x7e]{1,512}$/;

export const session: Signal<Session> = signal<Session>({ state: "unknown", token: "" });

/** Takes the token from the address's fragment, which is then removed from it, or else the one of this tab. */
export function openSession(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    history.replaceState(null, "", `${location.pathname}#/`);
    if (tokenForm.test(given)) sessionStorage.setItem(storageKey, given);
  }
  session.value = { state: "unknown", token: sessionStorage.getItem(storageKey) ?? "" };
}

/** False for what cannot be a token. */
export function signIn(token: string): boolean {
  if (!tokenForm.test(token)) return false;
  sessionStorage.setItem(storageKey, token);
  session.value = { state: "unknown", token };
  return true;
}

export function signOut(problem?: string): void {
  sessionStorage.removeItem(storageKey);
  session.value = { state: "signed-out", token: "", ...(problem === undefined ? {} : { problem }) };
}

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

/** An answer that takes longer will not come. */
const answerWithinMs = 60_000;

interface AskOptions {
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

interface PollOptions {
  readonly eachMs: number;
  /** Receives why a turn failed; null when one succeeds. */
  readonly onFailure: (failure: ApiFailure | null) => void;
}

const longestWaitMs = 30_000;

/**
 * Asks again and again until the returned function is called, or the work says that it is done. While nobody sees the page
 * it waits; after a failure it waits longer, and as long as the server says.
 */
export function poll(work: (signal: AbortSignal) => Promise<boolean>, { eachMs, onFailure }: PollOptions): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      await untilVisible(signal);
      if (signal.aborted) return;
      let waitMs = eachMs;
      try {
        const isDone = await work(signal);
        if (signal.aborted) return;
        failures = 0;
        onFailure(null);
        if (isDone) return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiFailure)) throw error;
        onFailure(error);
        if (error.status === 401) return;
        failures += 1;
        waitMs = Math.min(longestWaitMs, (error.retryAfterSeconds ?? 0) * 1_000 + eachMs * 2 ** Math.min(failures, 4));
      }
      await pause(waitMs, signal);
    }
  };
  void run();
  return () => stop.abort();
}

/** Resolves after so long, or when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible" || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  document.addEventListener("visibilitychange", () => resolve(), { once: true });
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

/** The failure that an answer describes, whatever its body is. */
function failureOfAnswer(status: number, retryAfter: string | null, body: unknown): ApiFailure {
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
function failureOfConnection(): ApiFailure {
  return new ApiFailure({
    status: 0,
    errorType: "NETWORK_ERROR",
    message: "The server does not answer.",
    suggestion: "See whether `glovebox serve` still runs. This page goes on by itself when it does.",
    retryAfterSeconds: null,
  });
}

/** The server has answered: we may send more requests. */
function sessionIsOpen(): void {
  if (session.value.state !== "open") session.value = { ...session.value, state: "open" };
}
