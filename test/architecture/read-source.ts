import { parseSync, Visitor } from "oxc-parser";

/** What one source file accesses. */
export interface SourceFacts {
  /** Names of the modules it imports, in any way; null for a name that is computed. */
  readonly imports: readonly (string | null)[];
  /** What it reads from its process: `process.env`, `node:os`.homedir and the like. */
  readonly environment: readonly string[];
  /** How it reads the clock and randomness. */
  readonly clock: readonly string[];
}

const clockNames = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "crypto.randomUUID",
  "crypto.getRandomValues",
]);
const randomImports = new Set(["randomUUID", "randomBytes", "randomInt", "getRandomValues", "randomFillSync"]);
/** Names of `node:os` that are the same on every machine. */
const constantOsNames = new Set(["constants", "EOL"]);
/** Members that only Node's own `process` has; our `Process` has `exit`, `output`, `kill`. */
const nodeProcessMembers = new Set(
  "env platform arch argv argv0 execPath execArgv cwd chdir pid ppid version versions getuid geteuid getgid umask".split(
    " ",
  ),
);

/** Members that act but read nothing. */
const actingProcessMembers = new Set(["kill", "nextTick", "emitWarning"]);

interface NamedNode {
  readonly type: string;
  readonly name?: unknown;
  readonly value?: unknown;
}

const isName = (node: NamedNode, name: string): boolean => node.type === "Identifier" && node.name === name;

/** The value of a string literal or of a plain template. */
function literal(node: unknown): string | null {
  const { type, value, quasis } = node as NamedNode & { quasis?: readonly { value: { cooked: string } }[] };
  if (type === "Literal" && typeof value === "string") return value;
  return type === "TemplateLiteral" && quasis?.length === 1 ? (quasis[0]?.value.cooked ?? null) : null;
}

/** Whether a pattern binds a variable called `process`. */
function bindsProcess(pattern: unknown): boolean {
  const { type, name, properties, left } = pattern as {
    readonly type: string;
    readonly name?: string;
    readonly properties?: readonly { readonly value?: unknown }[];
    readonly left?: unknown;
  };
  if (type === "Identifier") return name === "process";
  if (type === "AssignmentPattern") return bindsProcess(left);
  return type === "ObjectPattern" && (properties ?? []).some(({ value }) => Boolean(value) && bindsProcess(value));
}

/** Parses a file, so that comments and strings are never mistaken for code. */
export function readSource(path: string, text: string): SourceFacts {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join("; ")}`);
  const imports: (string | null)[] = [];
  const environment = new Set<string>();
  const clock = new Set<string>();
  const ifNodeProcess = new Set<string>();
  let hasOwnProcess = false;
  const noteNamedImport = (module: string, name: string): void => {
    if (/^(node:)?os$/.test(module) && !constantOsNames.has(name)) environment.add(`${module} ${name}`);
    if (/^(node:)?process$/.test(module)) environment.add(`${module} ${name}`);
    if (/^(node:)?crypto$/.test(module) && randomImports.has(name)) clock.add(`${module} ${name}`);
  };

  const noteParameters = (node: { readonly params: readonly unknown[] }): void => {
    if (node.params.some(bindsProcess)) hasOwnProcess = true;
  };

  new Visitor({
    ImportDeclaration(node) {
      imports.push(node.source.value);
      for (const specifier of node.specifiers) {
        if (node.importKind === "type") continue;
        const imported = specifier.type === "ImportSpecifier" ? specifier.imported : null;
        noteNamedImport(node.source.value, imported?.type === "Identifier" ? imported.name : "*");
      }
    },
    ExportNamedDeclaration(node) {
      if (node.source) imports.push(node.source.value);
    },
    ExportAllDeclaration(node) {
      imports.push(node.source.value);
    },
    ImportExpression(node) {
      imports.push(literal(node.source));
    },
    TSImportType(node) {
      imports.push(literal(node.source));
    },
    TSExternalModuleReference(node) {
      imports.push(literal(node.expression));
    },
    CallExpression(node) {
      const { callee } = node;
      const resolver =
        isName(callee, "require") ||
        (callee.type === "MemberExpression" &&
          isName(callee.property, "resolve") &&
          (callee.object.type === "MetaProperty" || isName(callee.object, "require")));
      if (resolver) imports.push(literal(node.arguments[0] ?? {}));
    },
    MemberExpression(node) {
      const object = node.object.type === "Identifier" ? node.object.name : "";
      const member = literal(node.property) ?? (node.property.type === "Identifier" ? node.property.name : "?");
      const reads = object === "process" && !actingProcessMembers.has(member);
      if (reads) (nodeProcessMembers.has(member) ? environment : ifNodeProcess).add(`process.${member}`);
      if (object === "globalThis" && member === "process") environment.add("globalThis.process");
      if (clockNames.has(`${object}.${member}`)) clock.add(`${object}.${member}`);
    },
    VariableDeclarator(node) {
      if (node.init && isName(node.init, "process")) ifNodeProcess.add("process");
      if (bindsProcess(node.id)) hasOwnProcess = true;
    },
    FunctionDeclaration: noteParameters,
    FunctionExpression: noteParameters,
    ArrowFunctionExpression: noteParameters,
    NewExpression(node) {
      if (isName(node.callee, "Date") && node.arguments.length === 0) clock.add("new Date()");
    },
  }).visit(program);
  if (!hasOwnProcess) for (const read of ifNodeProcess) environment.add(read);
  return { imports, environment: [...environment], clock: [...clock] };
}
