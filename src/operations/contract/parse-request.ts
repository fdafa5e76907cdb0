import type { z } from "zod";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { issueWords } from "./issue-words.ts";
import type { OperationContract } from "./operation-contract.ts";
import { findSurplus } from "./request-sizes.ts";

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
 * The request in its checked form. Lists and objects are counted before any of their entries is looked at.
 * @throws INVALID_REQUEST with up to 20 problems named by field, in the message and in `context.problems`
 */
export function parseRequest<Contract extends Pick<OperationContract, "request">>(
  { request }: Contract,
  body: unknown,
): z.output<Contract["request"]> {
  const surplus = findSurplus(request, body);
  if (surplus !== null) throw refuse([{ field: fieldOf(surplus.path) || "request", message: surplus.message }]);
  const parsed = request.safeParse(body, { error: issueWords });
  if (parsed.success) return parsed.data as z.output<Contract["request"]>;
  const { issues } = parsed.error;
  throw refuse(issues.slice(0, maxProblems).map(problemOf), issues.length - maxProblems);
}

function refuse(problems: readonly Problem[], unnamed = 0): GloveboxError {
  const others = unnamed > 0 ? `; and ${unnamed} more` : "";
  const message = problems.map(({ field, message: words }) => `${field}: ${words}`).join("; ") + others;
  return new GloveboxError("INVALID_REQUEST", `The request is not valid: ${message}.`, {
    suggestion: `Correct ${[...new Set(problems.map((problem) => problem.field))].join(", ")} and send it again.`,
    context: { field: problems[0]?.field, problems },
  });
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = fieldOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.slice(0, maxProblems).map(shortName);
    const others = issue.keys.length > names.length ? ` and ${issue.keys.length - names.length} more` : "";
    const field = [path, names[0]].filter(Boolean).join(".");
    return { field, message: `unknown field${names.length > 1 ? `s ${names.join(", ")}${others}` : ""}` };
  }
  return { field: path || "request", message: issue.message };
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : before ? `${before}.${shortName(part)}` : shortName(part),
    "",
  );
}

/** A name as sent, long enough to find it. */
function shortName(name: PropertyKey): string {
  const text = String(name);
  return text.length > maxNameLength ? `${text.slice(0, maxNameLength)}...` : text;
}
