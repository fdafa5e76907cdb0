import {
  languageOf,
  languageTable,
  titlesOf,
  type LanguageName,
  type ChosenRuntimeName,
} from "../../languages/language-table.ts";
import { invalidValue } from "./invalid-value.ts";

/** The runtime that a request asks for. @throws INVALID_REQUEST for a program that none of them runs */
export function checkRuntime(
  runtime: ChosenRuntimeName | undefined,
  language: LanguageName,
): ChosenRuntimeName | undefined {
  const { title, runtimes } = languageOf(language);
  if (runtime !== undefined && runtimes.every(({ name }) => name !== runtime)) {
    const chosen = languageTable.filter((each) => each.runtimes.length > 1);
    throw invalidValue("runtime", `expected none for ${title}: it chooses what runs ${titlesOf(chosen)}`);
  }
  return runtime;
}
