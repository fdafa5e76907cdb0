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
