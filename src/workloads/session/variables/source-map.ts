/** A place in what a compiler made, by its column, and its line and column in the source; all from 0. */
export type MappedPlace = readonly [column: number, sourceLine: number, sourceColumn: number];

const digits: ReadonlyMap<string, number> = new Map(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (digit, value) => [digit, value]),
);

/** The places of each line, by the field `mappings` of a source map with one source. */
export function readMappings(mappings: string): readonly (readonly MappedPlace[])[] {
  let sourceLine = 0;
  let sourceColumn = 0;
  return mappings.split(";").map((line) => {
    let column = 0;
    const places: MappedPlace[] = [];
    for (const entry of line.split(",")) {
      const [columns = 0, , lines, sourceColumns] = numbersOf(entry);
      column += columns;
      if (lines === undefined || sourceColumns === undefined) continue;
      sourceLine += lines;
      sourceColumn += sourceColumns;
      places.push([column, sourceLine, sourceColumn]);
    }
    return places;
  });
}

/** At most five numbers, in base 64 with the lowest bits first: five bits a digit, and the sign as the lowest of all. */
function numbersOf(entry: string): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of entry) {
    const digit = digits.get(character) ?? 0;
    value += (digit & 31) * 2 ** bits;
    bits += 5;
    if ((digit & 32) !== 0 && bits < 35) continue;
    numbers.push(value % 2 === 0 ? value / 2 : -(value - 1) / 2);
    value = bits = 0;
    if (numbers.length === 5) break;
  }
  return numbers;
}
