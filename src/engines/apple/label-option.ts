import { option } from "./option.ts";

/**
 * A label as an option. The command refuses a second `=`, which a path in a value may have, so that is written in another
 * way; `readLabels` undoes it.
 */
export function labelOption(name: string, value: string): string {
  return option("label", `${name}=${value.replaceAll("%", "%25").replaceAll("=", "%3D")}`);
}

/** Labels as they were before `labelOption`. */
export function readLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, value.replaceAll("%3D", "=").replaceAll("%25", "%")]),
  );
}
