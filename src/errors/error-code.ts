/**
 * The code of one of Node's own errors, such as `ENOENT`; empty for other errors.
 *
 * Recognised by its fields, not by `instanceof`: if our code runs in a realm of its own, as under Jest, Node's errors
 * are not instances of that realm's `Error`.
 */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
