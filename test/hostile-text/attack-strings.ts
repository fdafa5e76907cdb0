import { RegExpParser, type AST } from "@eslint-community/regexpp";

/** A text that makes backtracking costly: a beginning, one part many times, and an end that does not match. */
export interface AttackString {
  readonly head: string;
  readonly part: string;
  readonly tail: string;
}

export function textOf({ head, part, tail }: AttackString, characters: number): string {
  return head + part.repeat(Math.ceil(characters / part.length)) + tail;
}

/** Tried as members of classes, after the pattern's own characters. */
const usual: readonly string[] = "a0 A./-_\\\"':=()[]{}<>,;#@+*%!\t\n\ré\u0001".split("");
/** Hardly any pattern has both. */
const tail = "\n\u0000";
/** Members of a class that are tried. */
const maxMembers = 4;
/** Fewest repetitions that are worth trying. */
const manyTimes = 50;

/**
 * Attack strings for a pattern: for each of its repetitions, the repeated part behind all that stands before it, once and each
 * time. None for a pattern that cannot but be linear: one repetition of single characters, behind `^`.
 */
export function attackStrings(source: string, flags: string): readonly AttackString[] {
  const modes = { unicode: flags.includes("u"), unicodeSets: flags.includes("v") };
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, modes);
  const own = new Set<string>();
  const repetitions: AST.Quantifier[] = [];
  walk(pattern, (node) => {
    if (node.type === "Character") own.add(String.fromCodePoint(node.value));
    if (node.type === "Quantifier" && node.max >= manyTimes) repetitions.push(node);
  });
  if (isPlainlyLinear(pattern, repetitions, flags)) return [];
  const sampler = new Sampler([...new Set([...own, ...usual])], flags.replaceAll(/[dgy]/g, ""));
  const found = new Map<string, AttackString>();
  const add = (head: string, part: string): void => {
    if (part !== "") found.set(JSON.stringify([head, part]), { head, part, tail });
  };
  for (const repetition of repetitions) {
    const before = sampler.before(repetition);
    for (const part of sampler.parts(repetition.element)) {
      add(before, part);
      add("", before + part);
      if (flags.includes("m")) add("\n", before + part);
    }
  }
  return [...found.values()];
}

function isPlainlyLinear(pattern: AST.Pattern, repetitions: readonly AST.Quantifier[], flags: string): boolean {
  const [first] = repetitions;
  if (first === undefined) return true;
  const isOfCharacters = ["Character", "CharacterClass", "CharacterSet"].includes(first.element.type);
  const startsOnce =
    !flags.includes("m") &&
    pattern.alternatives.every(({ elements: [start] }) => start?.type === "Assertion" && start.kind === "start");
  return repetitions.length === 1 && isOfCharacters && startsOnce;
}

function walk(node: AST.Node, visit: (node: AST.Node) => void): void {
  visit(node);
  if ("alternatives" in node) for (const each of node.alternatives) walk(each, visit);
  if ("elements" in node) for (const each of node.elements) walk(each, visit);
  if ("element" in node) walk(node.element, visit);
}

class Sampler {
  readonly #characters: readonly string[];
  readonly #flags: string;
  readonly #members = new Map<string, readonly string[]>();

  constructor(characters: readonly string[], flags: string) {
    this.#characters = characters;
    this.#flags = flags;
  }

  /** What matches all that stands before a node. */
  before(node: AST.Node): string {
    const { parent } = node;
    if (parent === null) return "";
    if (parent.type !== "Alternative") return this.before(parent);
    const earlier = parent.elements.slice(0, parent.elements.indexOf(node as AST.Element));
    return this.before(parent) + earlier.map((each) => this.#sample(each, 0)).join("");
  }

  /** What may be repeated, in several ways. */
  parts(node: AST.Element): readonly string[] {
    if (node.type === "CharacterClass" || node.type === "CharacterSet") return this.#of(node).slice(0, maxMembers);
    if (node.type !== "Group" && node.type !== "CapturingGroup") return [this.#sample(node, 0)];
    const each = node.alternatives.flatMap((one) => [0, 1, 2].map((pick) => this.#sample(one, pick)));
    return [...new Set([...each, each.join("")])];
  }

  #sample(node: AST.Node, pick: number): string {
    // What else a pattern has takes no characters.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (node.type) {
      case "Alternative":
        return node.elements.map((each) => this.#sample(each, pick)).join("");
      case "Group":
      case "CapturingGroup":
        return this.#sample(node.alternatives[pick % node.alternatives.length] as AST.Alternative, pick);
      case "Quantifier":
        return this.#sample(node.element, pick).repeat(node.min);
      case "Character":
        return String.fromCodePoint(node.value);
      case "CharacterClass":
      case "CharacterSet": {
        const members = this.#of(node);
        return members[pick % members.length] ?? "a";
      }
      default:
        return "";
    }
  }

  #of({ raw }: AST.Node): readonly string[] {
    const known = this.#members.get(raw);
    if (known !== undefined) return known;
    const form = new RegExp(`^(?:${raw})$`, this.#flags);
    const members = this.#characters.filter((each) => form.test(each));
    this.#members.set(raw, members);
    return members;
  }
}
