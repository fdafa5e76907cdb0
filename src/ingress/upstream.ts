import type { Duplex } from "node:stream";
import type { OwnAnswer } from "./own-answer.ts";

/** Where requests of a preview end: its program, or the backend that the operator has named. */
export interface Upstream {
  /** `Host` of what is sent there. */
  readonly host: string;
  /** Whether its own names (`localhost`, addresses of loopback) with its port are that same place. */
  readonly isProgram: boolean;
  /** The answer where none can be made; default: by what it is. */
  readonly unreachable?: OwnAnswer | undefined;
  /** A connection of its own for each exchange. @throws when nothing listens, or it takes too long */
  connect(signal: AbortSignal): Promise<Duplex>;
}

/** The origin by which a browser knows a preview. */
export interface OuterOrigin {
  readonly scheme: "http" | "https";
  /** `Host` of the request. */
  readonly authority: string;
}

/** An origin as browsers send it. */
export function originText({ scheme, authority }: OuterOrigin): string {
  return `${scheme}://${authority}`;
}
