/** How many letters must be added, removed or changed. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of from.split("").entries()) {
    const next = [line + 1];
    for (const [column, other] of to.split("").entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The name that was probably meant, if one is fewer than four changes away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const near = known
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(({ distance }) => distance < 4)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.other;
}
