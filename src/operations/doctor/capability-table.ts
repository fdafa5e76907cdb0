import type { Capabilities } from "../../engines/capabilities.ts";

/** Each ability in words: `yes`, `no`, the name of a substitute, or a kind such as `memory`; isolation and sentences stand apart. */
export function capabilityTable({
  isolation: _,
  notes: _notes,
  limitsAdvice: _limitsAdvice,
  isolationAdvice: _isolationAdvice,
  ...abilities
}: Capabilities): Readonly<Record<string, string>> {
  const words = Object.entries(abilities).flatMap(([name, ability]) =>
    ability === undefined ? [] : [[snakeCase(name), inWords(ability)] as const],
  );
  return Object.fromEntries(words);
}

function inWords(ability: boolean | string | { readonly substitute: string }): string {
  if (typeof ability === "boolean") return ability ? "yes" : "no";
  return typeof ability === "string" ? ability : ability.substitute;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
