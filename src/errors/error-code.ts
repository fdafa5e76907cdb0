/**
 * The code of an error of Node's own, such as `ENOENT`; empty for none.
 *
 * Told by what it has, not by `instanceof`: where our code runs in a realm of its own, as under Jest, Node's errors are no
 * `Error` of that realm.
 */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
