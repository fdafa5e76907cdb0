import type { javascriptRuntimes, languages } from "../operations/contract/wire-values.ts";

/** A language that a snippet can be written in (SPEC EX1). */
export type Language = (typeof languages)[number];

/** What runs JavaScript and TypeScript. */
export type JavaScriptRuntime = (typeof javascriptRuntimes)[number];
