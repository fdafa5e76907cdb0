import type { Capabilities } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { isWall } from "../../policy/isolation.ts";
import {
  declaredPlaces,
  expectedAt,
  ownKernelPlace,
  type Attack,
  type DeclaredPlace,
  type Expectation,
} from "./attack.ts";

/**
 * What became of an attack. `denied`; `contained`: it got what its own sandbox has, and nothing of the host; `open`: it got
 * through, as the threat model says of this engine; `got_through`: though the engine is declared to deny it; `unclear`: it
 * did not say; `not_tried`.
 */
export type AttackVerdict = "denied" | "contained" | "open" | "got_through" | "unclear" | "not_tried";

/** An attack that was tried, with its verdict and what it said. */
export interface JudgedAttack {
  readonly attack: Attack;
  readonly verdict: AttackVerdict;
  readonly said: string;
}

/**
 * The column of the table for an engine: where another kernel than this machine's answers, what is said of such a kernel counts;
 * an engine that the table has no column for must deny all.
 */
function placeOf(engine: EngineName, { seccomp }: Pick<Capabilities, "seccomp">): DeclaredPlace | null {
  if (seccomp !== "yes") return ownKernelPlace;
  return declaredPlaces.find((place) => place === engine) ?? null;
}

/** What the engine is declared to do with an attack. */
export function declaredAt(attack: Attack, engine: EngineName, capabilities: Capabilities): Expectation {
  const { deniedBy, whereShared } = attack;
  const isDeclared = deniedBy === "isolation" ? isWall(capabilities.isolation) : capabilities[deniedBy] !== "no";
  if (!isDeclared) return { verdict: "open", why: `engine ${engine} does not enforce ${deniedBy} here` };
  if (whereShared !== undefined && capabilities.supervisor === "shared") return whereShared;
  const place = placeOf(engine, capabilities);
  return place === null ? { verdict: "denied" } : expectedAt(attack, place);
}

/** Judges what an attack said, each time that it was tried, against what is declared. */
export function judgeAttack(attack: Attack, declared: Expectation, tries: readonly string[]): JudgedAttack {
  const said = tries.at(-1) ?? "";
  const { verdict: expected, why = "" } = declared;
  if (tries.some((each) => each.startsWith("BLOCKED")) && tries.every((each) => !each.startsWith("ESCAPED"))) {
    return { attack, verdict: "denied", said: wordsOf(tries.find((each) => each.startsWith("BLOCKED")) ?? "") };
  }
  if (tries.length === 0 || !tries.every((each) => each.startsWith("ESCAPED"))) {
    return { attack, verdict: "unclear", said: tries.map(wordsOf).join("; then ") || "it said nothing" };
  }
  if (expected === "denied") return { attack, verdict: "got_through", said: wordsOf(said) };
  return { attack, verdict: expected, said: why };
}

/** Whether an attack must be tried once more: it was not denied, and no column of the table says why. */
export function isDoubtful({ verdict }: JudgedAttack): boolean {
  return verdict === "got_through" || verdict === "unclear";
}

function wordsOf(said: string): string {
  return said.replace(/^(?:BLOCKED|ESCAPED): /, "");
}
