import { GloveboxError, toGloveboxError } from "../../../errors/glovebox-error.ts";
import { nearest } from "../../../base/nearest.ts";
import { parseRequest } from "../../../operations/contract/parse-request.ts";
import { exampleOf } from "./examples.ts";
import { forgiveArguments } from "./forgive-arguments.ts";
import { followUpSchema } from "../schemas/input-schema.ts";
import type { OfferedTool } from "../offered-tool.ts";

/** What a tool call requests: new work, or the state of running work. */
export type ToolArguments =
  | { readonly type: "begin"; readonly request: Record<string, unknown> }
  | { readonly type: "follow"; readonly runId: string; readonly cancel: boolean };

/** @throws INVALID_REQUEST naming every problem by field, and the correct form */
export function parseToolArguments(offered: OfferedTool, given: unknown): ToolArguments {
  const { cancel: asked, ...others } = withoutAbsent(offered, given);
  const isFollowUp = offered.tool.mayTakeLong && Object.hasOwn(others, "run_id");
  try {
    if (isFollowUp) {
      const { run_id: runId, cancel = false } = parseRequest(
        { request: followUpSchema },
        asked === undefined ? others : { ...others, cancel: asked },
      );
      return { type: "follow", runId, cancel };
    }
    // Without a run there is nothing to cancel.
    const isIdle = offered.tool.mayTakeLong && asked === false;
    const request = asked === undefined || isIdle ? others : { ...others, cancel: asked };
    return { type: "begin", request: parseRequest(offered, { ...offered.tool.defaults, ...request }) };
  } catch (error) {
    throw withForm(offered, toGloveboxError(error), isFollowUp);
  }
}

function withoutAbsent(offered: OfferedTool, given: unknown): Readonly<Record<string, unknown>> {
  return forgiveArguments(offered, given) as Readonly<Record<string, unknown>>;
}

/** The error with a correct example, so that a model can fix its call without requesting the tool list. */
function withForm(offered: OfferedTool, error: GloveboxError, isFollowUp: boolean): GloveboxError {
  if (error.errorType !== "INVALID_REQUEST") return error;
  const form = isFollowUp ? { run_id: "run-..." } : exampleOf(offered);
  const known = Object.keys(isFollowUp ? followUpSchema.shape : offered.request.shape);
  const problems = (error.context["problems"] ?? []) as readonly { readonly field: string; readonly message: string }[];
  const hints = problems
    .filter(({ message }) => message.startsWith("unknown field"))
    .map(({ field }) => hintFor(field, known));
  return new GloveboxError("INVALID_REQUEST", error.message, {
    suggestion: [...new Set(hints), `Call ${offered.name} again in this form: ${JSON.stringify(form)}.`].join(" "),
    context: error.context,
  });
}

function hintFor(field: string, known: readonly string[]): string {
  const meant = nearest(field, known);
  return meant === null ? `Its fields are ${known.join(", ")}.` : `For ${field.slice(0, 80)} write ${meant}.`;
}
