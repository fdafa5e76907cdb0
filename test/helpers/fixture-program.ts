import { readFileSync } from "node:fs";

const folder = new URL("../fixtures/programs/", import.meta.url);

/**
 * The argument vector that runs a program of `test/fixtures/programs`, whose text is passed as an argument.
 *
 * `.sh` ones run in any image with `sh`, `.py` ones where there is `python3`.
 */
export function fixtureProgram(file: string, ...parameters: readonly string[]): readonly string[] {
  const text = readFileSync(new URL(file, folder), "utf8");
  if (file.endsWith(".sh")) return ["sh", "-c", text, file, ...parameters];
  if (file.endsWith(".py")) return ["python3", "-c", text, ...parameters];
  throw new Error(`${file}: no interpreter is known for it.`);
}
