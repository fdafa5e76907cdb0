import { GloveboxError } from "../errors/glovebox-error.ts";
import {
  languageOf,
  languageTable,
  titlesOf,
  type Ecosystem,
  type LanguageName,
  type RuntimeName,
} from "./language-table.ts";
import type { Language, Runtime } from "./language.ts";

export interface WantedRuntime {
  readonly language: LanguageName;
  /** What was requested; undefined: the usual one. */
  readonly runtime: RuntimeName | undefined;
  /** What asks: each has its usual runtime of a language (SPEC IM3). */
  readonly usual: "execute" | "session";
}

/** What an engine says of its runtimes. */
interface EngineRuntimes {
  /** The only one that it has of a language with several; undefined: any. */
  readonly javascript?: string | undefined;
}

/** What runs a program. @throws UNSUPPORTED for a runtime that the engine does not have */
export function chooseRuntime(
  { language, runtime, usual }: WantedRuntime,
  { javascript: only }: EngineRuntimes,
  engine: string,
): RuntimeName {
  const row = languageOf(language);
  const had = only !== undefined && row.runtimes.some(({ name }) => name === only) ? only : undefined;
  if (runtime !== undefined && had !== undefined && runtime !== had) throw notHad(runtime, had, engine);
  return runtime ?? ((had ?? usualOf(row, usual).name) as RuntimeName);
}

/** The runtime of sessions whose packages come from there. */
export function runtimeForPackages(ecosystem: Ecosystem, capabilities: EngineRuntimes, engine: string): RuntimeName {
  const row = languageTable.find((each) => each.ecosystem === ecosystem);
  const language = row?.name as LanguageName;
  return chooseRuntime({ language, runtime: undefined, usual: "session" }, capabilities, engine);
}

function usualOf(language: Language, usual: WantedRuntime["usual"]): Runtime {
  const [first] = language.runtimes;
  const found = usual === "session" ? (language.sessionRuntime ?? first) : first;
  if (found === undefined) throw new Error(`no runtime for ${language.name}`);
  return found;
}

function notHad(runtime: RuntimeName, had: string, engine: string): GloveboxError {
  const languages = languageTable.filter(({ runtimes }) => runtimes.some(({ name }) => name === runtime));
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} runs ${titlesOf(languages)} with ${had} alone.`, {
    suggestion: "Leave runtime out, or choose an engine with images.",
    context: { field: "runtime", engine, missing: runtime },
  });
}
