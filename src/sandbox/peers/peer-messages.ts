import { z } from "zod";
import { GloveboxError, type WireError } from "../../errors/glovebox-error.ts";
import { errorCatalogue, type ErrorType } from "../../errors/catalogue.ts";
import type { Capabilities } from "../../engines/capabilities.ts";

/** Told by both ends, because they may be of different versions of Glovebox. */
export const peerProtocol = 1;

const addressed = { protocol: z.literal(peerProtocol), sandbox_id: z.string().max(100) };

/** The first line of a connection: what the peer wants. */
export const peerRequestSchema = z.discriminatedUnion("action", [
  z.strictObject({ ...addressed, action: z.literal("describe") }),
  z.strictObject({ ...addressed, action: z.literal("remove") }),
  z.strictObject({ ...addressed, action: z.literal("usage") }),
  z.strictObject({
    ...addressed,
    action: z.literal("exec"),
    command: z.array(z.string()).min(1),
    environment: z.record(z.string(), z.string()).optional(),
    working_directory: z.string().optional(),
    as_program: z.boolean().describe("It gets the variables of the sandbox's own programs, below those given."),
  }),
]);
export type PeerRequest = z.output<typeof peerRequestSchema>;

/** What a peer says while its program runs. */
export const callerMessageSchema = z.strictObject({
  type: z.literal("end"),
  call: z.int(),
  signal: z.enum(["SIGTERM", "SIGKILL", "all"]).describe("`all`: as `endProcessAlone`."),
});
export type CallerMessage = z.output<typeof callerMessageSchema>;

const wireError: z.ZodType<WireError> = z.object({
  error_type: z.enum(Object.keys(errorCatalogue) as [ErrorType, ...ErrorType[]]),
  message: z.string(),
  suggestion: z.string(),
  context: z.record(z.string(), z.unknown()),
});

/** What the peer server answers: `open` first, or an `error`. */
export const peerMessageSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("open"),
    capabilities: z.custom<Capabilities>((value) => typeof value === "object"),
    places: z
      .array(z.object({ inside: z.string(), here: z.string(), readOnly: z.boolean() }))
      .max(64)
      .default([])
      .describe("Folders of the sandbox that are on this machine, where no program of ours can run inside."),
  }),
  z.object({ type: z.literal("done") }),
  z.object({ type: z.literal("usage"), usage: z.unknown() }),
  z.object({ type: z.literal("started") }),
  z.object({ type: z.literal("ended"), call: z.int(), error: wireError.nullable() }),
  z.object({ type: z.literal("exit"), exit_code: z.int() }),
  z.object({ type: z.literal("settled") }),
  z.object({ type: z.literal("error"), error: wireError }),
]);
export type PeerMessage = z.output<typeof peerMessageSchema>;

/** An error of the other end, as it was thrown there. */
export function errorOfWire({ error_type, message, suggestion, context }: WireError): GloveboxError {
  return new GloveboxError(error_type, message, { suggestion, context });
}

/** @throws INVALID_REQUEST for a line that is none of `PeerRequest` */
export function parsePeerRequest(line: string): PeerRequest {
  const body = jsonOf(line);
  const parsed = peerRequestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const spoken = (body as { readonly protocol?: unknown } | null)?.protocol;
  const problem = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  throw spoken === peerProtocol || spoken === undefined
    ? new GloveboxError("INVALID_REQUEST", `Not a request of a peer: ${problem.slice(0, 500)}.`)
    : otherVersion();
}

export function otherVersion(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The sandbox belongs to a process of another version of Glovebox.", {
    suggestion: "Use the command of that version, or restart that process with this one.",
  });
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
