import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isBackendPath, leadsUp } from "./backend.ts";
import { forwardRequest, type Forwarding } from "./forward-request.ts";
import { forwardUpgrade } from "./forward-upgrade.ts";
import { refuseUpgrade, sendOwnAnswer, type OwnAnswer } from "./own-answer.ts";
import { noBackend, tooMany, unclearRequest } from "./refusals.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";

/** A program whose port is shown. */
export interface PreviewTarget {
  readonly port: number;
  /** @throws when nothing listens */
  connect(signal: AbortSignal): Promise<Duplex>;
  /** Whether it has not answered yet, and may still. */
  isStarting(): boolean;
}

/** Requests and WebSockets of one preview in progress at once. */
const maxExchanges = 256;

/** The entrance to one preview, by whichever host it is reached. */
export class PreviewGate {
  readonly #target: PreviewTarget;
  readonly #program: Upstream;
  readonly #backend: Upstream | null;
  readonly #ended = new AbortController();
  #exchanges = 0;

  constructor(target: PreviewTarget, backend: Upstream | null) {
    this.#target = target;
    this.#backend = backend;
    const { port } = target;
    this.#program = { host: `localhost:${port}`, isProgram: true, connect: (signal) => target.connect(signal) };
  }

  handle(request: IncomingMessage, response: ServerResponse, outer: OuterOrigin): void {
    const refusal = this.#refusal(request);
    if (refusal !== null) return sendOwnAnswer(request, response, refusal);
    this.#exchanges += 1;
    response.once("close", () => (this.#exchanges -= 1));
    void forwardRequest(request, response, this.#forwarding(request, outer));
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, outer: OuterOrigin): void {
    const refusal = this.#refusal(request);
    if (refusal !== null) return refuseUpgrade(socket, refusal);
    this.#exchanges += 1;
    socket.once("close", () => (this.#exchanges -= 1));
    void forwardUpgrade(request, { socket, head }, this.#forwarding(request, outer));
  }

  /** Cuts what is on its way. */
  close(): void {
    this.#ended.abort();
  }

  #refusal(request: IncomingMessage): OwnAnswer | null {
    const { url = "", rawHeaders, headers } = request;
    const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
    const encoding = headers["transfer-encoding"];
    if (!url.startsWith("/") || hosts.length !== 1) return unclearRequest;
    if (encoding !== undefined && encoding.toLowerCase() !== "chunked") return unclearRequest;
    if (isBackendPath(url) && this.#backend === null) return noBackend;
    if (isBackendPath(url) && leadsUp(url)) return unclearRequest;
    return this.#exchanges >= maxExchanges ? tooMany : null;
  }

  #forwarding({ url = "" }: IncomingMessage, outer: OuterOrigin): Forwarding {
    const upstream = this.#backend !== null && isBackendPath(url) ? this.#backend : this.#program;
    return { upstream, outer, isStarting: this.#target.isStarting(), ended: this.#ended.signal };
  }
}
