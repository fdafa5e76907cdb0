/** How the parser is to read a file. */
export type Dialect = "jsx" | "ts" | "tsx";

/** By the end of the file's name, the likelier first. */
const dialects: ReadonlyMap<string, readonly Dialect[]> = new Map<string, readonly Dialect[]>([
  ["js", ["jsx"]],
  ["mjs", ["jsx"]],
  ["cjs", ["jsx"]],
  ["jsx", ["jsx"]],
  ["ts", ["ts", "tsx"]],
  ["mts", ["ts"]],
  ["cts", ["ts"]],
  ["tsx", ["tsx"]],
]);

/** What may stand in a file of JavaScript or TypeScript; nothing for other files, and for declarations, which never run. */
export function dialectsOf(path: string): readonly Dialect[] {
  if (/\.d\.[cm]?ts$/.test(path)) return [];
  return dialects.get(path.slice(path.lastIndexOf(".") + 1)) ?? [];
}
