import type { z } from "zod";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OperationContract } from "./operation-contract.ts";

/** Maximum problems that one error names: its length must not grow with the request. */
const maxProblems = 20;
/** Maximum characters of a field's name in an error. */
const maxNameLength = 80;

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
  const { issues } = parsed.error;
  const problems = issues.slice(0, maxProblems).map(problemOf);
  const others = issues.length > maxProblems ? `; and ${issues.length - maxProblems} more` : "";
  const message = problems.map(({ field, message: words }) => `${field}: ${words}`).join("; ") + others;
  throw new GloveboxError("INVALID_REQUEST", `The request is not valid: ${message}.`, {
    suggestion: `Correct ${[...new Set(problems.map((problem) => problem.field))].join(", ")} and send it again.`,
    context: { field: problems[0]?.field, problems },
  });
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = issue.path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : before ? `${before}.${shortName(part)}` : shortName(part),
    "",
  );
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.slice(0, maxProblems).map(shortName);
    const others = issue.keys.length > names.length ? ` and ${issue.keys.length - names.length} more` : "";
    const field = [path, names[0]].filter(Boolean).join(".");
    return { field, message: `unknown field${names.length > 1 ? `s ${names.join(", ")}${others}` : ""}` };
  }
  return { field: path || "request", message: issue.message };
}

/** A name as sent, long enough to find it. */
function shortName(name: PropertyKey): string {
  const text = String(name);
  return text.length > maxNameLength ? `${text.slice(0, maxNameLength)}...` : text;
}
