import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { Instruction } from "./split-dockerfile.ts";

/** How many of the last characters of a failed instruction's output its error shows. */
const shownCharacters = 2_000;

/** A failed instruction, with the end of its output. */
export function buildFailed({ keyword, text, line }: Instruction, why: string, words: string): GloveboxError {
  const last = words.trim().slice(-shownCharacters);
  const what = `${keyword} ${text}`.slice(0, 120);
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The project's Dockerfile could not be built: line ${line} (${what}) ${why}.${last === "" ? "" : `\n${last}`}`,
    {
      suggestion:
        "Correct the Dockerfile; RUN is root without most capabilities, and reaches the package registries, or what `network` names.",
      context: { field: "dockerfile", line },
    },
  );
}

/** The build as a whole failed. */
export function buildEnded(why: string, suggestion: string): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `The project's Dockerfile could not be built: ${why}.`, {
    suggestion,
    context: { field: "dockerfile" },
  });
}
