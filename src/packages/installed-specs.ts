import { packageName, type Ecosystem } from "../policy/install-policy.ts";
import type { PackageSetRecord } from "./package-set.ts";

type Installed = Pick<PackageSetRecord, "ecosystem" | "requested" | "packages">;

/** Names of packages that came along which one message tells. */
const maxTold = 12;

/** The packages that were asked for in their versions, without what they brought along. */
export function resolvedSpecs({ ecosystem, requested, packages }: Installed): readonly string[] {
  const byName = new Map(packages.map((each) => [usualName(each.name, ecosystem), specOf(each, ecosystem)]));
  return requested.map((spec) => byName.get(packageName(spec, ecosystem)) ?? spec);
}

/** All that was installed, in words for people: `a@1 and 2 that come along: b@1, c@3`. */
export function describeInstalled(installed: Installed): string {
  const { ecosystem, packages } = installed;
  const asked = resolvedSpecs(installed);
  const others = packages.map((each) => specOf(each, ecosystem)).filter((spec) => !asked.includes(spec));
  if (others.length === 0) return asked.join(", ");
  const told = others.length > maxTold ? [...others.slice(0, maxTold), "..."] : others;
  return `${asked.join(", ")} and ${others.length} that come along: ${told.join(", ")}`;
}

/** What an installed package calls itself, in the form of `packageName`. */
export function usualName(name: string, ecosystem: Ecosystem): string {
  return ecosystem === "python" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name.toLowerCase();
}

function specOf({ name, version }: Installed["packages"][number], ecosystem: Ecosystem): string {
  return `${name}${ecosystem === "python" ? "==" : "@"}${version}`;
}
