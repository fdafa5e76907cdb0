import { parseSync, Visitor } from "oxc-parser";
import { textOf } from "./attack-strings.ts";

/** A text of about 1 MiB in a form that makes careless readers slow. */
export interface Shape {
  readonly name: string;
  readonly text: () => string;
}

const characters = 2 ** 20;
/** Parts that are repeated on their own: blanks, delimiters, and the beginnings of what formats have. */
const parts = [
  ...[
    " ",
    "\n",
    "a",
    "0",
    "/",
    "\\",
    '"',
    "[",
    "{",
    "(",
    "<",
    "a,",
    "=",
    "#",
    "*",
    "${",
    "a.",
    "a b ",
    "a\n",
    " \n",
    "a\\\n",
    '\\"',
  ],
  ...["\ud800", "\u001b[", "{},", '{"a":', "<a>", "&a;", "**/", "a=1\n", "at a (/a.js:1:1)\n", "::"],
];
const nests = [
  ["[", "]"],
  ["<a>", "</a>"],
  ['{"a":', "}"],
] as const;
/** Words of a file's own that are tried, and how long they may be. */
const words = { max: 8, characters: 60 };

/** Each is made once in a worker: making them would take longer than most readers. */
function once(make: () => string): () => string {
  let text: string | undefined;
  return () => (text ??= make());
}

const repeated = (part: string, head = "", tail = "\n\u0000"): Shape => ({
  name: JSON.stringify(`${head}${part}...`),
  text: () => textOf({ head, part, tail }, characters),
});

const general: readonly Shape[] = [
  ...parts.map((part) => repeated(part)),
  ...nests.map(([open, close]) => ({
    name: `nested ${open}`,
    text: () => open.repeat(characters / 2 / open.length) + close.repeat(characters / 2 / open.length),
  })),
  // A delimiter that is never closed, with what could be taken for its end.
  ...['"', "'", "[", "<!--"].map((head) => repeated(`a \\${head}`, head, "")),
  // Something valid first, then a long way to nothing.
  { name: "a list of many", text: () => JSON.stringify(Array.from({ length: 100_000 }, (_, at) => `${at}`)) },
  { name: "an object of many", text: () => `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":${at}`).join()}}` },
  { name: "many lines", text: () => Array.from({ length: 100_000 }, (_, at) => `k${at} = ${at}`).join("\n") },
];

const kept = general.map(({ name, text }): Shape => ({ name, text: once(text) }));

/** Those shapes, and repetitions of the words that a file looks for: near matches of its own. */
export function shapesFor(path: string, source: string): readonly Shape[] {
  const found = new Set<string>();
  const note = (word: string): void => {
    if (word !== "" && word.length <= words.characters && !/^\.{0,2}\/|^node:/.test(word)) found.add(word);
  };
  new Visitor({
    Literal(node) {
      if (typeof node.value === "string") note(node.value);
    },
    TemplateElement(node) {
      note(node.value.cooked ?? "");
    },
  }).visit(parseSync(path, source).program);
  const own = [...found].slice(0, words.max);
  return [...kept, ...own.map((word) => repeated(`${word}a `))];
}
