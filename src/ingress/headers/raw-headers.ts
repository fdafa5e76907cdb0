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
