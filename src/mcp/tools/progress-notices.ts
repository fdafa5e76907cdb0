import type { ProgressToken, ServerContext } from "@modelcontextprotocol/server";
import type { RunningCall } from "../../calls/running-calls.ts";
import { plainText } from "../../base/plain-text.ts";

/** How often a client is notified about work that has nothing new to report. */
const quietMs = 3000;
/** News within this time of the last notice waits for the next; new output is reported within a second (SPEC EX3). */
const busyMs = 250;

/** Reports a call's progress to the client, if requested; the returned function stops that. */
export function tellProgress(call: RunningCall, { mcpReq }: ServerContext): () => void {
  const { _meta: meta } = mcpReq;
  const token = meta?.progressToken;
  if (token === undefined) return () => undefined;
  const notices = new ProgressNotices(call, token, mcpReq.notify);
  call.onNews = () => notices.hearNews();
  return () => {
    call.onNews = null;
    notices.end();
  };
}

class ProgressNotices {
  readonly #call: RunningCall;
  readonly #token: ProgressToken;
  readonly #notify: ServerContext["mcpReq"]["notify"];
  #timer: NodeJS.Timeout | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #ended = false;

  constructor(call: RunningCall, token: ProgressToken, notify: ServerContext["mcpReq"]["notify"]) {
    this.#call = call;
    this.#token = token;
    this.#notify = notify;
    // Sent immediately, as it contains the id.
    this.#send();
  }

  hearNews(): void {
    if (!this.#ended) this.#sendAfter(Math.max(0, busyMs - (this.#call.elapsedMs - this.#lastMs)));
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #sendAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (milliseconds === 0) this.#send();
    else this.#timer = setTimeout(() => this.#send(), milliseconds);
  }

  #send(): void {
    // Progress must grow from notice to notice.
    this.#lastMs = Math.max(this.#call.elapsedMs, this.#lastMs + 1);
    const params = {
      progressToken: this.#token,
      progress: Math.round(this.#lastMs) / 1000,
      message: describeProgress(this.#call),
    };
    this.#notify({ method: "notifications/progress", params }).catch(() => {
      // The client is gone; the code that serves it notices that itself.
    });
    if (!this.#ended) this.#sendAfter(quietMs);
  }
}

/** What it does now, for people: `sbx-1: Running (12 s, 40 bytes of output): done`; the run's id until there is a sandbox. */
export function describeProgress(call: RunningCall): string {
  const seconds = `${Math.round(call.elapsedMs / 1000)} s`;
  const bytes = call.stdout.totalBytes + call.stderr.totalBytes;
  const id = call.sandboxId ?? call.id;
  if (bytes === 0) return `${id}: ${call.message ?? "Running"} (${seconds})`;
  const text = plainText(call.stdout.text()) || plainText(call.stderr.text());
  const lastLine = text.trimEnd().split("\n").at(-1) ?? "";
  return `${id}: Running (${seconds}, ${bytes} bytes of output): ${lastLine.slice(-200)}`;
}
