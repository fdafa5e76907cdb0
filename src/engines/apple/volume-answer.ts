import { readLabels } from "./label-option.ts";
import { AnswerError, objectAt, parseDate, parseObjects, textAt, textsIn } from "./json.ts";

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
