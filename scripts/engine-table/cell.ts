import type { BehaviourNeeds } from "../../test/engine-contract/behaviour.ts";
import { absences, behavioursOf, type DeclaredFact, type Guarantee } from "../../test/engine-contract/guarantees.ts";
import type { Subject } from "../../test/engine-contract/subject.ts";

/** The cell of the table for one guarantee on one engine. */
export interface Cell {
  readonly word: string;
  /** Sentences for footnotes. */
  readonly reasons: readonly string[];
}

/** The behaviours of the suite, by their ids. */
export type Behaviours = ReadonlyMap<string, BehaviourNeeds>;

/** What the suite says about one guarantee on one engine. */
export function cellOf(row: Guarantee | DeclaredFact, subject: Subject, behaviours: Behaviours): Cell {
  return "capability" in row ? declaredCell(row, subject) : testedCell(row, subject, behaviours);
}

/** Values that are written differently in the table. */
const declaredWords: Readonly<Record<string, string>> = { memoryOrDisk: "memory or disk" };

function declaredCell({ capability }: DeclaredFact, { mustDeclare }: Subject): Cell {
  const value = mustDeclare[capability];
  if (capability !== "execNetwork") return { word: declaredWords[value] ?? value, reasons: [] };
  return value === "none" ? { word: "no", reasons: [absence(capability)] } : { word: "yes", reasons: [] };
}

function testedCell(row: Guarantee, subject: Subject, behaviours: Behaviours): Cell {
  const ids = behavioursOf(row, behaviours.keys());
  const excepted = ids.filter((id) => subject.exceptions[id] !== undefined);
  const asked = ids.filter((id) => lacking(behaviours.get(id), subject) === null);
  const missing = unique(ids.flatMap((id) => lacking(behaviours.get(id), subject) ?? []));
  const substitutes = unique(ids.flatMap((id) => substituteOf(behaviours.get(id), subject) ?? []));
  const reasons = [...substitutes, ...unique(excepted.flatMap((id) => exceptionOf(subject, id)))];
  if (asked.length === 0) return { word: cannot(missing, subject) ? "no" : "–", reasons: missing.map(absence) };
  if (excepted.length === 0) return { word: "yes", reasons };
  if (substitutes.length > 0) return { word: "substitute", reasons };
  return { word: excepted.length < asked.length || claims(ids, subject, behaviours) ? "in part" : "no", reasons };
}

type Ability = NonNullable<BehaviourNeeds["capability"] | BehaviourNeeds["subject"]>;

/** The missing ability because of which the behaviour is not tested on this subject; null when it is tested. */
function lacking({ capability, subject: part }: BehaviourNeeds = {}, subject: Subject): Ability | null {
  if (part !== undefined && subject[part] === undefined) return part;
  if (capability === undefined) return null;
  return [false, "no", "none"].includes(subject.mustDeclare[capability] as string | boolean) ? capability : null;
}

function substituteOf({ capability }: BehaviourNeeds = {}, { mustDeclare }: Subject): string | null {
  const declared = capability === undefined ? undefined : mustDeclare[capability];
  return typeof declared === "object" ? sentence(`Instead: ${declared.substitute}`) : null;
}

/** Whether what is missing is something that an engine should enforce, not just an extra that it could offer. */
function cannot(missing: readonly Ability[], { mustDeclare }: Subject): boolean {
  return missing.some((ability) => ability !== "makeAt" && mustDeclare[ability] === "no");
}

/** Whether the engine declares that it enforces what the row is about: exceptions then explain how. */
function claims(ids: readonly string[], { mustDeclare }: Subject, behaviours: Behaviours): boolean {
  return ids.some((id) => {
    const capability = behaviours.get(id)?.capability;
    return capability !== undefined && mustDeclare[capability] === "yes";
  });
}

function exceptionOf({ exceptions, untried }: Subject, id: string): readonly string[] {
  const reason = sentence(exceptions[id] ?? "");
  return untried[id] === undefined ? [reason] : [reason, `Not run by the suite: ${untried[id]}.`];
}

function absence(ability: Ability): string {
  const reason = absences[ability];
  if (reason === undefined) throw new Error(`No sentence says what it means to lack ${ability}.`);
  return reason;
}

/** A name such as gVisor keeps its lower-case first letter. */
function sentence(words: string): string {
  if (/^[a-z][A-Z]/.test(words)) return `${words}.`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
