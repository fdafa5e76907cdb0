/** The name of a failure whose own name an earlier one has. */
export function numbered(name: string, time: number): string {
  return `${name} #${time}`;
}

/** A name as it may stand in an answer, and as its runner has it. */
export function namesBehind(name: string): readonly string[] {
  const end = /^(.+) #[1-9]\d{0,5}$/s.exec(name)?.[1];
  return end === undefined ? [name] : [name, end];
}
