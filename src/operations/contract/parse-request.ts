import type { z } from "zod";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OperationContract } from "./operation-contract.ts";

/** One thing that is wrong with a request. */
interface Problem {
  readonly field: string;
  readonly message: string;
}

/**
 * The request in its checked form.
 * @throws INVALID_REQUEST with every problem named by field, in the message and in `context.problems`
 */
export function parseRequest<Contract extends Pick<OperationContract, "request">>(
  { request }: Contract,
  body: unknown,
): z.output<Contract["request"]> {
  const parsed = request.safeParse(body);
  if (parsed.success) return parsed.data as z.output<Contract["request"]>;
  const problems = parsed.error.issues.map(problemOf);
  const message = problems.map(({ field, message: words }) => `${field}: ${words}`).join("; ");
  throw new GloveboxError("INVALID_REQUEST", `The request is not valid: ${message}.`, {
    suggestion: `Correct ${[...new Set(problems.map((problem) => problem.field))].join(", ")} and send it again.`,
    context: { field: problems[0]?.field, problems },
  });
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = issue.path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : before ? `${before}.${String(part)}` : String(part),
    "",
  );
  if (issue.code === "unrecognized_keys") {
    const field = [path, issue.keys[0]].filter(Boolean).join(".");
    return { field, message: `unknown field${issue.keys.length > 1 ? `s ${issue.keys.join(", ")}` : ""}` };
  }
  return { field: path || "request", message: issue.message };
}
