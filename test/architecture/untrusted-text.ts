import { parseSync } from "oxc-parser";

/** Names of parameters that hold text which somebody else may have written. */
const textNames = new Set(
  "text output source content contents line lines stderr stdout words code bytes said answer body header document page message".split(
    " ",
  ),
);
/** How functions are called that take a text, whatever its name. */
const readers = /^(?:parse|find|explain|split|expand|matches)[A-Z]/;
const textTypes = /^(?:string|Uint8Array|Buffer|readonly string\[\])(?: \| (?:null|undefined|Uint8Array))?$/;

/** Exported functions of a file that take a text, by name. */
export function functionsOfText(path: string, source: string): readonly string[] {
  const { program } = parseSync(path, source);
  return program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : null;
    if (declared?.type !== "FunctionDeclaration" || declared.id === null) return [];
    const { name } = declared.id;
    const takesText = declared.params.some((parameter) => {
      if (parameter.type !== "Identifier") return false;
      if (!textNames.has(parameter.name) && !readers.test(name)) return false;
      const type = parameter.typeAnnotation?.typeAnnotation;
      return type !== undefined && textTypes.test(source.slice(type.start, type.end));
    });
    return takesText ? [name] : [];
  });
}
