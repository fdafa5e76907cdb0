import { readLabels } from "./label-option.ts";
import { AnswerError, objectAt, parseDate, parseObjects, textAt, textsIn, type JsonObject } from "./json.ts";

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
