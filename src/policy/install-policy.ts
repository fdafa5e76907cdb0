import { GloveboxError } from "../errors/glovebox-error.ts";
import { packageName, type Ecosystem } from "./package-specs.ts";

/** Which packages the operator lets be fetched. */
export interface InstallPolicy {
  /** Patterns of names; of none given, every package is allowed. */
  readonly allow: readonly string[];
  /** Patterns of names; they count before `allow`, and for what packages bring along, too. */
  readonly deny: readonly string[];
  /** How long a version must have been published; 0: no matter how long. */
  readonly minAgeMs: number;
  /** Whether that was set by name: then a tool that cannot tell is refused. */
  readonly isMinAgeDemanded: boolean;
}

/** What a pattern of a setting may be. */
export const packagePattern = /^(?:(?:npm|python):)?(?:@[\w.*~-]{1,100}\/)?[\w*][\w.*~-]{0,100}$/;

/** @throws POLICY_DENIED naming the package and the setting */
export function assertPackagesAllowed(
  specs: readonly string[],
  ecosystem: Ecosystem,
  { allow, deny }: Pick<InstallPolicy, "allow" | "deny">,
): void {
  for (const spec of specs) {
    const name = packageName(spec, ecosystem);
    const isNamedIn = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => matches(pattern, name, ecosystem));
    if (isNamedIn(deny)) throw refused(name, "packages.deny", "names it");
    if (allow.length > 0 && !isNamedIn(allow)) throw refused(name, "packages.allow", "does not name it");
  }
}

/** The same for what they brought along, of which only `deny` speaks. @throws POLICY_DENIED */
export function assertNoneDenied(
  names: readonly string[],
  ecosystem: Ecosystem,
  { deny }: Pick<InstallPolicy, "deny">,
): void {
  const denied = names.find((name) => deny.some((pattern) => matches(pattern, usual(name, ecosystem), ecosystem)));
  if (denied !== undefined) throw refused(denied, "packages.deny", "names it");
}

function matches(pattern: string, name: string, ecosystem: Ecosystem): boolean {
  const [, only, words = ""] = /^(?:(npm|python):)?(.*)$/.exec(pattern) ?? [];
  if (only !== undefined && only !== ecosystem) return false;
  const parts = usual(words, ecosystem).split("*");
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w@]/g, String.raw`\$&`)).join(".*")}$`).test(name);
}

function usual(name: string, ecosystem: Ecosystem): string {
  return ecosystem === "python" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name.toLowerCase();
}

const variables = { "packages.allow": "GLOVEBOX_PACKAGES_ALLOW", "packages.deny": "GLOVEBOX_PACKAGES_DENY" } as const;

function refused(name: string, setting: keyof typeof variables, why: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `Package ${name} may not be installed here: ${setting} ${why}.`, {
    suggestion: `Do without ${name}, or have the operator change ${setting} (${variables[setting]}).`,
    context: { field: "packages", package: name, setting },
  });
}
