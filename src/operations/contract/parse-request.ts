import { z } from "zod";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { issueWords } from "./issue-words.ts";
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

/** What of a request's JSON schema says how much of something it may have. */
export interface SizedSchema {
  readonly type?: unknown;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: SizedSchema;
  readonly properties?: Readonly<Record<string, SizedSchema>>;
  readonly additionalProperties?: SizedSchema | boolean;
  readonly anyOf?: readonly SizedSchema[];
}

/** A list or an object with more in it than its schema allows. */
interface Surplus {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const schemas = new WeakMap<z.ZodType, SizedSchema>();

/**
 * The first list or object of a request that has more entries than it may have; null for none. A schema checks each
 * entry before it counts them, so this comes first: it looks at counts only, and at entries of what is within its
 * bound.
 */
function findSurplus(request: z.ZodObject, body: unknown): Surplus | null {
  if (!isCountable(body)) return null;
  // The schemas of fields with nothing to count are not written: they take longer than all else in a command's start.
  for (const [name, field] of Object.entries(request.shape)) {
    const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : null;
    const found = isCountable(value) ? surplusOf(sizedSchemaOf(field as z.ZodType), value, [name]) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The JSON schema of a request or of one of its fields as it is written, made once. */
export function sizedSchemaOf(part: z.ZodType): SizedSchema {
  let schema = schemas.get(part);
  if (schema === undefined) {
    schema = z.toJSONSchema(part, { io: "input", unrepresentable: "any" }) as SizedSchema;
    schemas.set(part, schema);
  }
  return schema;
}

function isCountable(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function surplusOf(schema: SizedSchema, value: unknown, path: readonly PropertyKey[]): Surplus | null {
  if (!isCountable(value)) return null;
  const forms = formsOf(schema);
  return Array.isArray(value) ? surplusOfList(forms, value, path) : surplusOfObject(forms, value, path);
}

function surplusOfList(forms: readonly SizedSchema[], list: readonly unknown[], path: readonly PropertyKey[]) {
  const lists = forms.filter(({ type }) => type === "array");
  // What may be no list at all is one problem, whatever it has in it.
  if (lists.length === 0) return null;
  const max = Math.max(...lists.map(({ maxItems = Number.POSITIVE_INFINITY }) => maxItems));
  if (list.length > max) return { path, message: `expected at most ${max} items, got ${list.length}` };
  const items = lists.flatMap((form) => form.items ?? []).filter(hasEntries);
  for (const [index, item] of items.length === 0 ? [] : list.entries()) {
    const found = surplusOf({ anyOf: items }, item, [...path, index]);
    if (found !== null) return found;
  }
  return null;
}

function surplusOfObject(forms: readonly SizedSchema[], object: object, path: readonly PropertyKey[]): Surplus | null {
  const max = Math.max(0, ...forms.map(({ maxProperties = 0 }) => maxProperties));
  if (max > 0) {
    const { length } = Object.keys(object);
    if (length > max) return { path, message: `expected at most ${max} entries, got ${length}` };
  }
  for (const { properties = {} } of forms) {
    for (const [name, schema] of Object.entries(properties)) {
      const found = Object.hasOwn(object, name) ? surplusOf(schema, Reflect.get(object, name), [...path, name]) : null;
      if (found !== null) return found;
    }
  }
  return null;
}

/** The schema, or its alternatives. */
function formsOf(schema: SizedSchema): readonly SizedSchema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(formsOf);
}

/** Whether there is anything to count in it. */
function hasEntries(schema: SizedSchema): boolean {
  return formsOf(schema).some(({ type }) => type === "array" || type === "object");
}
