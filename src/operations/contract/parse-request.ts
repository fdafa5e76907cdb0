import { z } from "zod";
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

/** What a validator says of a value that does not fit, as far as it is put into words here. */
interface Issue {
  readonly code: string;
  readonly input?: unknown;
  readonly expected?: unknown;
  readonly values?: readonly unknown[];
  readonly origin?: string;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: boolean;
  readonly format?: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly InnerIssue[])[];
}

/** One of a branch of alternatives, whose message is made already. */
interface InnerIssue extends Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Maximum values that one sentence lists, and characters of a text that it shows. */
const max = { values: 20, text: 80 } as const;

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  nan: "a number",
};

const formats: Readonly<Record<string, string>> = {
  datetime: "a time such as 2026-11-22T21:30:00Z",
  date: "a date such as 2026-11-22",
  url: "a URL",
  regex: "another form",
};

/**
 * Why a value is refused, for fields whose schema says nothing of its own: "expected a list, got nothing". Schemas' own words
 * win; what the validator would say by itself ("Invalid input: ...") reaches nobody.
 */
export function issueWords(issue: Issue): string {
  if (issue.code === "unrecognized_keys") {
    return `unknown field ${(issue.keys ?? []).slice(0, max.values).join(", ").slice(0, max.text)}`;
  }
  return `expected ${expectedWords(issue)}, got ${received(issue.input)}`;
}

function expectedWords(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return kindOf(issue.expected);
    case "invalid_value":
      return oneOf((issue.values ?? []).slice(0, max.values).map((value) => JSON.stringify(value) ?? String(value)));
    case "too_small":
      return sized(issue, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return sized(issue, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    case "invalid_format":
      return formats[issue.format ?? ""] ?? "another form";
    case "invalid_union":
      return ofBranches(issue.errors ?? []);
    case "invalid_key":
      return "another name";
    default:
      return "another value";
  }
}

function kindOf(expected: unknown): string {
  return kinds[String(expected)] ?? String(expected);
}

/** A list's "too small" is a number of items. */
function sized({ origin }: Issue, bound: string, limit: unknown): string {
  const many = limit === 1 ? "" : "s";
  if (origin === "string") return `${bound} ${String(limit)} character${many}`;
  if (origin === "array" || origin === "set") return `${bound} ${String(limit)} item${many}`;
  if (origin === "object" || origin === "record" || origin === "map") {
    return `${bound} ${String(limit)} ${limit === 1 ? "entry" : "entries"}`;
  }
  return `a number of ${bound} ${String(limit)}`;
}

/** The alternatives; of one that the value got into, what is wrong inside. */
function ofBranches(branches: readonly (readonly InnerIssue[])[]): string {
  const inner = branches.flat().find(({ path }) => path.length > 0);
  if (inner !== undefined) {
    const place = inner.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    return `${inner.message.replace(/^expected /, "").replace(/, got .*$/s, "")} at ${place.slice(0, max.text)}`;
  }
  const all = branches.flat().map(expectedWords);
  return oneOf([...new Set(all)]);
}

function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "another value";
  return words.every((word) => word.startsWith('"'))
    ? `one of ${words.join(", ")}`
    : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function received(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") {
    const shown = JSON.stringify(value.slice(0, max.text));
    return value.length > max.text ? `${shown.slice(0, -1)}..."` : shown;
  }
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
