/** One bad file for each lint rule that must hold, by the rule's name as the linter reports it. */
export const lintSamples: Readonly<Record<string, string>> = {
  "typescript(no-floating-promises)": `
    export async function a(): Promise<void> {}
    export function b(): void { a(); }`,
  "typescript(no-misused-promises)": `
    export function a(b: readonly number[]): void { b.forEach(async () => {}); }`,
  "typescript(switch-exhaustiveness-check)": `
    export function a(b: "x" | "y"): number {
      switch (b) { case "x": return 1; }
      return 2;
    }`,
  "typescript(no-explicit-any)": `export const a = (b: any): void => void b;`,
  "typescript(no-unsafe-return)": `export const a = (): number => JSON.parse("1");`,
  "typescript(consistent-type-imports)": `
    import { ErrorRow } from "../errors/catalogue.ts";
    export const a: ErrorRow | null = null;`,
  "typescript(no-non-null-assertion)": `export const a = (b?: number): number => b!;`,
  "typescript(ban-ts-comment)": `
    // @ts-ignore
    export const a: number = 1;`,
  "typescript(only-throw-error)": `export function a(): void { throw "text"; }`,
  "eslint(no-unused-vars)": `export function a(): void { const b = 1; }`,
  "eslint(no-empty)": `export function a(b: () => void): void { try { b(); } catch {} }`,
  "eslint(no-console)": `export const a = (): void => console.log("x");`,
  "eslint(max-lines)": "\n".repeat(501),
  "import(no-default-export)": `export default 1;`,
  "node(no-process-env)": `export const a: string | undefined = process.env["HOME"];`,
  "unicorn(prefer-node-protocol)": `export { readFileSync } from "fs";`,
};
