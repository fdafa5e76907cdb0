import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ConnectionShares } from "../base/http/connection-shares.ts";
import { headBytes } from "../base/http/request-head.ts";
import { isBackendPath, mayLeaveApi } from "./backend.ts";
import { forwardRequest, type Forwarding } from "./forward-request.ts";
import { forwardUpgrade } from "./forward-upgrade.ts";
import { refuseUpgrade, sendOwnAnswer, type OwnAnswer } from "./own-answer.ts";
import { maxHeadBytes } from "./headers/raw-headers.ts";
import type { OwnCredentials } from "./headers/own-credentials.ts";
import { headTooLarge, noBackend, noRoom, shownCredential, tooMany, unclearRequest } from "./refusals.ts";
import { isUnclear } from "./unclear-request.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";

/** A program whose port is shown. */
export interface PreviewTarget {
  /** Whose it is: the connections of all who look at it count for this one. */
  readonly principal: string;
  /** Where the program listens, which may change. */
  port(): number;
  /** @throws when nothing listens */
  connect(signal: AbortSignal): Promise<Duplex>;
  /** Whether it has not answered yet, and may still. */
  isStarting(): boolean;
  /** Whether paths under `/api` are its own as well; default: they are the backend's. */
  readonly ownsApi?: boolean | undefined;
  /** The Host that it is told; default: `localhost` with its port. */
  readonly host?: string | undefined;
  /** The answer where nothing listens; default: ours. */
  readonly unreachable?: OwnAnswer | undefined;
}

/** Where what previews take of a server counts. */
export interface PreviewRoom {
  readonly connections: ConnectionShares;
  /** Counts the bytes of one request and its answer, for the owner of the preview. @throws CAPACITY */
  readonly hold: (principal: string) => { release(): void };
}

export interface PreviewGateOptions {
  readonly backend: Upstream | null;
  readonly own: OwnCredentials;
  readonly room: PreviewRoom;
}

/** Requests and WebSockets of one preview in progress at once. */
const maxExchanges = 256;

/** The entrance to one preview, by whichever host it is reached. */
export class PreviewGate {
  readonly #target: PreviewTarget;
  readonly #backend: Upstream | null;
  readonly #own: OwnCredentials;
  readonly #room: PreviewRoom;
  readonly #ended = new AbortController();
  #exchanges = 0;

  constructor(target: PreviewTarget, { backend, own, room }: PreviewGateOptions) {
    this.#target = target;
    this.#backend = backend;
    this.#own = own;
    this.#room = room;
  }

  handle(request: IncomingMessage, response: ServerResponse, outer: OuterOrigin): void {
    const refusal = this.#admit(request, response);
    if (refusal !== null) return sendOwnAnswer(request, response, refusal);
    // It answers everything that it expects.
    forwardRequest(request, response, this.#forwarding(request, outer)).catch(() => response.destroy());
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, outer: OuterOrigin): void {
    const refusal = this.#admit(request, socket);
    if (refusal !== null) return refuseUpgrade(socket, refusal);
    forwardUpgrade(request, { socket, head }, this.#forwarding(request, outer)).catch(() => socket.destroy());
  }

  /** Cuts what is on its way. */
  close(): void {
    this.#ended.abort();
  }

  /** Where its program is at this moment. */
  #program(): Upstream {
    const target = this.#target;
    const { host = `localhost:${target.port()}`, unreachable } = target;
    return { host, isProgram: true, unreachable, connect: (signal) => target.connect(signal) };
  }

  /** Counts a request until what it is answered on closes, or says why it may not come in. */
  #admit(request: IncomingMessage, answered: ServerResponse | Duplex): OwnAnswer | null {
    const refusal = this.#refusal(request);
    if (refusal !== null) return refusal;
    const { principal } = this.#target;
    try {
      this.#room.connections.claim(request.socket, { principal, isPreview: true });
      const held = this.#room.hold(principal);
      answered.once("close", () => held.release());
    } catch {
      return noRoom;
    }
    this.#exchanges += 1;
    answered.once("close", () => (this.#exchanges -= 1));
    return null;
  }

  #refusal(request: IncomingMessage): OwnAnswer | null {
    const { url = "" } = request;
    if (isUnclear(request)) return unclearRequest;
    if (headBytes(request) > maxHeadBytes) return headTooLarge;
    if (this.#own.isShownIn(url)) return shownCredential;
    if (this.#isForBackend(url) && this.#backend === null) return noBackend;
    if (this.#isForBackend(url) && mayLeaveApi(url)) return unclearRequest;
    return this.#exchanges >= maxExchanges ? tooMany : null;
  }

  #isForBackend(url: string): boolean {
    return this.#target.ownsApi !== true && isBackendPath(url);
  }

  #forwarding({ url = "" }: IncomingMessage, outer: OuterOrigin): Forwarding {
    const upstream = this.#backend !== null && this.#isForBackend(url) ? this.#backend : this.#program();
    return { upstream, outer, own: this.#own, isStarting: this.#target.isStarting(), ended: this.#ended.signal };
  }
}
