import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import type { wireErrorSchema, WireEvent } from "../operations/contract/wire-messages.ts";
import type { z } from "zod";
import { fromBase64 } from "../library/objects/base64.ts";
import { strangeAnswer } from "./network-failure.ts";

type Underway = Exclude<WireEvent, { readonly event: "result" | "error" }>;

/** An event as the library reports it. */
export function eventOf(event: Underway): OperationEvent {
  switch (event.event) {
    case "sandbox":
      return {
        type: "sandbox",
        sandboxId: event.sandbox_id,
        ...(event.name === undefined ? {} : { name: event.name }),
      };
    case "output": {
      const { stream, text = "", base64 } = event;
      return {
        type: "output",
        stream,
        bytes: base64 === undefined ? new TextEncoder().encode(text) : fromBase64(base64),
      };
    }
    case "denied": {
      const { event: _, ...denial } = event;
      // A rule of a later version is passed on unchanged.
      return { type: "denied", denial: denial as Extract<OperationEvent, { type: "denied" }>["denial"] };
    }
    case "progress":
      return { type: "progress", message: event.message, fraction: event.fraction };
    case "warning":
      return { type: "warning", message: event.message };
  }
}

/** The response of an operation, checked against its schema. @throws NETWORK_ERROR if it does not match */
export function checkedResponse(contract: OperationContract, body: unknown): unknown {
  const parsed = contract.response.safeParse(body);
  if (!parsed.success) throw strangeAnswer(`its ${contract.name} has another form`, parsed.error);
  return parsed.data;
}

/** The server's own error; `more`: further facts about it. */
export function errorOfWire(
  { error_type: type, message, suggestion, context }: z.output<typeof wireErrorSchema>,
  more: Readonly<Record<string, unknown>> = {},
): GloveboxError {
  const known = Object.hasOwn(errorCatalogue, type) ? (type as ErrorType) : "INTERNAL";
  return new GloveboxError(known, message, { suggestion, context: { ...more, ...context } });
}
