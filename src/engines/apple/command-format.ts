/** An answer that does not have the command's form: cut off, or of another version. */
export class AnswerError extends Error {}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The objects of a JSON list. @throws AnswerError for anything else */
export function parseObjects(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  if (!Array.isArray(value) || !value.every(isObject)) throw new AnswerError("a list of objects was expected");
  return value;
}

/**
 * A JSON object. @throws AnswerError for anything else
 * @hostileText Exported for the test that feeds it.
 */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new AnswerError("an object was expected");
  return value;
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

/** The objects of a list; none where there is no list. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** A count; null where it is missing or not a number. */
export function countAt(object: JsonObject, key: string): number | null {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** The texts among the values of an object. */
export function textsIn(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The command's older dates count from here. */
const referenceDateMs = Date.UTC(2001, 0, 1);

/**
 * One option and its value as one word: only so may a value begin with a dash.
 * @throws Error for an empty value, which the command would replace by the next word
 */
export function option(name: string, value: string): string {
  if (value === "") throw new Error(`Option --${name} was given no value.`);
  return `--${name}=${value}`;
}

/**
 * A label as an option. The command refuses a second `=`, which a path in a value may have, so that is written in another
 * way; `readLabels` undoes it.
 */
export function labelOption(name: string, value: string): string {
  return option("label", `${name}=${value.replaceAll("%", "%25").replaceAll("=", "%3D")}`);
}

/** Labels as they were before `labelOption`. */
export function readLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, value.replaceAll("%3D", "=").replaceAll("%25", "%")]),
  );
}

/** What is read of a container in the answers of `list` and `inspect`. */
export interface ContainerFacts {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: string;
  /** Milliseconds since the epoch; 0 where it is not given. */
  readonly createdAtMs: number;
}

/**
 * Containers in an answer, of 1.0 and newer (`status` is an object, dates are texts) or older (`status` is a text, dates are
 * numbers).
 * @throws AnswerError
 */
export function parseContainers(text: string): readonly ContainerFacts[] {
  return parseObjects(text).map(containerFacts);
}

/** Whether the answer of `system status` says that the service runs; its other fields differ with the version. */
export function isServiceRunning(text: string): boolean {
  return textAt(parseObject(text), "status") === "running";
}

export interface CommandVersion {
  /** Such as `1.2.2`. */
  readonly text: string;
  readonly major: number;
  readonly build: string | undefined;
}

const versionForm = /^container CLI version (\d{1,4})((?:\.\d{1,4}){1,2}[\w.+-]*)(?:.*\bcommit: (\w{1,40}))?/m;

/** What `container --version` says; null when that is another program's. */
export function parseVersion(text: string): CommandVersion | null {
  const [, major, rest, build] = versionForm.exec(text) ?? [];
  if (major === undefined || rest === undefined) return null;
  return { text: `${major}${rest}`, major: Number(major), build };
}

/** What is read of a volume in the answer of `volume list`. */
export interface VolumeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; 0 where it is not told. */
  readonly createdAtMs: number;
}

/** Volumes in an answer. @throws AnswerError */
export function parseVolumes(text: string): readonly VolumeFacts[] {
  return parseObjects(text).map((answer) => {
    const configuration = objectAt(answer, "configuration");
    const name = textAt(configuration, "name") ?? textAt(answer, "id");
    if (name === undefined) throw new AnswerError("a volume's name was expected");
    const labels = readLabels(textsIn(objectAt(configuration, "labels")));
    return { name, labels, createdAtMs: parseDate(configuration["creationDate"]) };
  });
}

/** A date in milliseconds since the epoch; 0 for anything else. */
function parseDate(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return referenceDateMs + value * 1000;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new AnswerError("JSON was expected", { cause });
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function containerFacts(answer: JsonObject): ContainerFacts {
  const configuration = objectAt(answer, "configuration");
  const id = textAt(answer, "id") ?? textAt(configuration, "id");
  const state = textAt(answer, "status") ?? textAt(objectAt(answer, "status"), "state");
  if (id === undefined || state === undefined) throw new AnswerError("a container's id and state were expected");
  const created = configuration["creationDate"] ?? objectAt(answer, "status")["startedDate"] ?? answer["startedDate"];
  return {
    id,
    labels: readLabels(textsIn(objectAt(configuration, "labels"))),
    state,
    createdAtMs: parseDate(created),
  };
}
