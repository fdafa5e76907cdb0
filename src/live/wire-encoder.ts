import { invalidUtf8Offset, trailingPart } from "../base/streams/utf8.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import type { WireEvent } from "../operations/contract/wire-messages.ts";

/**
 * Encodes events for the wire. A character split between two pieces waits for its rest; a piece that is not UTF-8 is
 * sent entirely as base64.
 */
export class WireEncoder {
  readonly #partial: { stdout: Uint8Array; stderr: Uint8Array } = { stdout: none, stderr: none };

  /** Empty for an event that the wire does not have, and for bytes that are held back. */
  encode(event: OperationEvent): WireEvent[] {
    switch (event.type) {
      case "output": {
        const bytes = Buffer.concat([this.#partial[event.stream], event.bytes]);
        const whole = bytes.length - trailingPart(bytes);
        this.#partial[event.stream] = bytes.subarray(whole);
        return outputEvents(event.stream, bytes.subarray(0, whole));
      }
      case "sandbox":
        return [
          { event: "sandbox", sandbox_id: event.sandboxId, ...(event.name === undefined ? {} : { name: event.name }) },
        ];
      case "denied": {
        const { target, rule, reason, remedy } = event.denial;
        return [{ event: "denied", target, rule, reason, remedy }];
      }
      case "progress":
        return [{ event: "progress", message: event.message, fraction: event.fraction }];
      case "warning":
        return [{ event: "warning", message: event.message }];
      case "terminal":
        return [];
    }
  }

  /** Held-back bytes whose rest will never come. */
  flush(): WireEvent[] {
    return (["stdout", "stderr"] as const).flatMap((stream) => {
      const rest = this.#partial[stream];
      this.#partial[stream] = none;
      return outputEvents(stream, rest);
    });
  }
}

const none = new Uint8Array();

function outputEvents(stream: "stdout" | "stderr", bytes: Uint8Array): WireEvent[] {
  if (bytes.length === 0) return [];
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return invalidUtf8Offset(bytes) === null
    ? [{ event: "output", stream, text: buffer.toString("utf8") }]
    : [{ event: "output", stream, base64: buffer.toString("base64") }];
}
