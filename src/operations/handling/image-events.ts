import type { PullProgress } from "../../engines/engine.ts";
import type { OperationEvent } from "../contract/operation-event.ts";

/** What a caller receives while an image is pulled. */
export function pullEvent(image: string, { status, currentBytes, totalBytes }: PullProgress): OperationEvent {
  return {
    type: "progress",
    message: `Pulling ${image}: ${status}`,
    fraction: currentBytes === null || !totalBytes ? null : currentBytes / totalBytes,
  };
}

/** What a caller receives while an image is built. */
export function buildEvent(image: string, line: string): OperationEvent {
  return { type: "progress", message: `Building ${image}: ${line}`, fraction: null };
}
