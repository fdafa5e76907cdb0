import { kibibyte } from "../base/bytes.ts";

/** Largest head in bytes of a request to a preview, and of its program's answer: four times what servers usually take. */
export const maxHeadBytes: number = 64 * kibibyte;

/** Name and value of each header, in their order. */
export function pairsOf(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[index * 2] ?? "",
    rawHeaders[index * 2 + 1] ?? "",
  ]);
}

/** Headers that a `Connection` header makes those of one connection only, in lower case. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}
