import type { HeldBytes } from "../../calls/bytes-in-flight.ts";
import { GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import { answerOfError, sizeOfBody, type WireAnswer } from "../server/wire-answer.ts";

export interface AnswerShare {
  /** Where the answer counts. */
  readonly held: HeldBytes;
  /** What is held for other things, in bytes. */
  readonly besideBytes: number;
  /** Of the run. */
  readonly id: string;
  /** From now on the answer can be asked for by the run's id. */
  readonly keep: () => void;
}

/** The answer, or the error that there is no room for it now, and where it is. */
export function withinShare(answer: WireAnswer, { held, besideBytes, id, keep }: AnswerShare): WireAnswer {
  try {
    held.set(besideBytes + sizeOfBody(answer));
    return answer;
  } catch (error) {
    keep();
    return answerOfError(noRoomNow(error, id));
  }
}

/** The error for the answer to a run, which has ended. */
export function noRoomNow(error: unknown, id: string): GloveboxError {
  const { errorType, message, context } = toGloveboxError(error);
  const suggestion = `Read the answers that wait for you, and ask for this one with GET /api/sandbox/${id}.`;
  return new GloveboxError(errorType, message, { suggestion, context: { ...context, id } });
}
