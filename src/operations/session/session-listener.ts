import type { SessionListener } from "../../workloads/session/run-in-session.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { buildEvent, pullEvent } from "../handling/image-events.ts";

/** What a caller receives from a session while it runs. */
export function sessionListener({ onEvent }: OperationCall): SessionListener {
  return {
    onSandbox: (sandboxId) => void onEvent?.({ type: "sandbox", sandboxId }),
    onOutput: (stream, bytes) => onEvent?.({ type: "output", stream, bytes }),
    onDenied: (denial) => void onEvent?.({ type: "denied", denial }),
    onPull: (image, progress) => void onEvent?.(pullEvent(image, progress)),
    onPackages: (message) => void onEvent?.({ type: "progress", message, fraction: null }),
    onBuild: (image, line) => void onEvent?.(buildEvent(image, line)),
  };
}
