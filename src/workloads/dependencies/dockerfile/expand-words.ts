/** Values of variables; undefined: not set. */
export type LookUp = (name: string) => string | undefined;

/** Words with quotes removed and variables replaced. @throws Error saying what is not understood */
export function expandWords(text: string, lookUp: LookUp): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= "";
    if (character === quote) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else if (character === "\\" && quote !== "'") word += text.charAt((at += 1));
    else if (character === "$" && quote !== "'") {
      const variable = variableAt(text, at, lookUp);
      word += variable.value;
      at = variable.end;
    } else word += character;
  }
  if (quote !== null) throw new Error(`a quotation mark (${quote}) has no end`);
  return word === null ? words : [...words, word];
}

const form = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::([-+])([^${}]*))?\})/y;

/** The variable that begins at a position, and where it ends. */
function variableAt(text: string, start: number, lookUp: LookUp): { readonly value: string; readonly end: number } {
  form.lastIndex = start;
  const match = form.exec(text);
  if (match === null) {
    if (text.charAt(start + 1) === "{")
      throw new Error("of ${...}, only ${NAME}, ${NAME:-word} and ${NAME:+word} are known");
    return { value: "$", end: start };
  }
  const [whole, plain, braced = "", how, word = ""] = match;
  const value = lookUp(plain ?? braced) ?? "";
  const end = start + whole.length - 1;
  if (how === "-") return { value: value === "" ? word : value, end };
  if (how === "+") return { value: value === "" ? "" : word, end };
  return { value, end };
}
