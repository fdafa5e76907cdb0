import { environmentTable } from "./layers/environment-table.ts";

/** Key paths whose values are never shown. */
export const secretKeys: readonly string[] = Object.values(environmentTable)
  .filter((row) => row.secret === true)
  .map((row) => row.key);
