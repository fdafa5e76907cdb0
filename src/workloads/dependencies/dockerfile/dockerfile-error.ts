import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** A Dockerfile that cannot be built as it is: `problem` continues a sentence after "line 3". */
export function badDockerfile(line: number, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `Dockerfile of the project, line ${line}: ${problem}.`, {
    suggestion: "Correct it (docs/tests.md lists what is built), or leave `dockerfile` out and name an `image`.",
    context: { field: "dockerfile", line },
  });
}
