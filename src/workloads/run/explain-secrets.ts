import { shortestRedacted, type Redaction } from "../../policy/redaction.ts";

/** What a caller should know about a run's secrets, one sentence each. */
export function secretWarnings({ found, tooShort }: Redaction): readonly string[] {
  return [
    ...found.map((name) => `The value of secret ${name} was replaced by [redacted:${name}] in what the program wrote.`),
    ...tooShort.map(
      (name) =>
        `Secret ${name} has fewer than ${shortestRedacted} bytes: it is not taken out of what the program writes.`,
    ),
  ];
}
