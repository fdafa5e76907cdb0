/**
 * What is wrong with docs/architecture.md: a room (a folder directly in `src`) without a row of its own, or a path in
 * backticks that names nothing. Paths with capitals are placeholders.
 */
export function pageProblems(
  text: string,
  rooms: ReadonlySet<string>,
  exists: (path: string) => boolean,
): readonly string[] {
  const told = new Set([...text.matchAll(/^\| `([^`]+)`/gm)].map(([, name = ""]) => name));
  const named = new Set(
    [...text.matchAll(/`((?:src|test|bench|scripts|supervisor|images)\/[^`]*)`/g)].map(([, name = ""]) => name),
  );
  return [
    ...[...rooms].filter((room) => !told.has(room)).map((room) => `${room} has no row`),
    ...[...named].filter((path) => !/[A-Z]/.test(path) && !exists(path)).map((path) => `${path} does not exist`),
  ];
}
