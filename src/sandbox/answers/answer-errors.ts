import { GloveboxError } from "../../errors/glovebox-error.ts";

const suggestion =
  "A program in the sandbox may have stopped or disturbed what answers there: end its background processes, or the sandbox.";

/** Our program inside did not answer, and was killed. */
export function noAnswer(subject: string): GloveboxError {
  return new GloveboxError("TIMEOUT", `The sandbox did not answer in time (${subject}).`, {
    suggestion,
    context: { subject },
  });
}

/** The answer is not one that our program gives; it was killed. */
export function badAnswer(subject: string, problem: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The sandbox's answer was refused (${subject}): ${problem}.`, {
    suggestion,
    context: { subject, rule: "answer" },
  });
}

/** Our program did not answer, and could not be killed either. */
export function lostAnswer(subject: string, cause: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The sandbox does not answer, and cannot be made to (${subject}).`, {
    suggestion: "End the sandbox, whose files may be lost, and go on in a new one.",
    context: { subject },
    cause,
  });
}
