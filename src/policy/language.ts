/** Languages that a snippet can be written in (SPEC EX1). */
export const languages = ["python", "javascript", "typescript"] as const;
export type Language = (typeof languages)[number];

/** What runs JavaScript and TypeScript. */
export const javascriptRuntimes = ["node", "bun"] as const;
export type JavaScriptRuntime = (typeof javascriptRuntimes)[number];
