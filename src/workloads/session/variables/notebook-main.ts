import { stripTypeScriptTypes } from "node:module";
import { text } from "node:stream/consumers";
import { notebookCode, readMappings, type NotebookCode, type MappedPlace } from "./notebook-code.ts";

/** What the process is to read. */
interface Job {
  readonly language: string;
  readonly source: string;
  /** Whether a compiler has made it, with a source map at its end. */
  readonly isCompiled: boolean;
}

/** Characters of the places; what has more is shown without them. */
const maxPlaces = 4_000_000;
const mapStart = "//# sourceMappingURL=data:application/json;base64,";

/** The places as the interpreter takes them: JSON without a line break. */
function withPlaces(made: NotebookCode, compiled: readonly (readonly MappedPlace[])[] | null): object {
  if (!("code" in made)) return made;
  const places = JSON.stringify({ ...made.places, ...(compiled === null ? {} : { compiled }) });
  return { code: made.code, places: places.length > maxPlaces ? "" : places };
}

function fromCompiled(code: string): object {
  const start = code.lastIndexOf(mapStart);
  if (start === -1) return withPlaces(notebookCode(code), null);
  const map = JSON.parse(Buffer.from(code.slice(start + mapStart.length), "base64").toString("utf8")) as {
    readonly mappings: string;
  };
  return withPlaces(notebookCode(code.slice(0, start)), readMappings(map.mappings));
}

function fromTypeScript(source: string): object {
  try {
    // Every line and column stays.
    return withPlaces(notebookCode(stripTypeScriptTypes(source, { mode: "strip" })), null);
  } catch {
    // The other way knows more of TypeScript.
  }
  try {
    return fromCompiled(stripTypeScriptTypes(source, { mode: "transform", sourceMap: true }));
  } catch {
    // What it does not know the compiler may.
    return { needsCompiler: true };
  }
}

function answerTo({ language, source, isCompiled }: Job): object {
  if (language === "typescript") return fromTypeScript(source);
  return isCompiled ? fromCompiled(source) : withPlaces(notebookCode(source), null);
}

process.stdout.write(JSON.stringify(answerTo(JSON.parse(await text(process.stdin)) as Job)));
