import type { JavaScriptRuntime, Language } from "../language.ts";
import { invalidValue } from "./invalid-value.ts";

/** The runtime that a request asks for. @throws INVALID_REQUEST for a program that none of them runs */
export function checkRuntime(
  runtime: JavaScriptRuntime | undefined,
  language: Language,
): JavaScriptRuntime | undefined {
  if (runtime !== undefined && language === "python") {
    throw invalidValue("runtime", "expected none for Python: it chooses what runs JavaScript and TypeScript");
  }
  return runtime;
}
