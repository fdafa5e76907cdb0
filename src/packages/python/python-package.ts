import { distributions } from "./distributions.ts";
import { namespaces } from "./namespaces.ts";
import { standardLibrary } from "./standard-library.ts";

/** The index's rule for names. */
const distributionName = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/i;

/**
 * The distribution to install for a module's dotted path, which may go on beyond the module (`yaml.safe_load` gives
 * `PyYAML`). Null for the standard library, for a namespace alone, and for what cannot be a distribution's name.
 */
export function pythonPackage(path: string): string | null {
  const names = path.split(".");
  const [first = ""] = names;
  if (standardLibrary.has(first)) return null;
  for (let length = Math.min(names.length, 5); length > 0; length -= 1) {
    const prefix = names.slice(0, length).join(".");
    const known = distributions.get(prefix);
    if (known !== undefined) return known;
    const depth = namespaces.get(prefix);
    if (depth !== undefined) return names.length < depth ? null : checkedName(names.slice(0, depth));
  }
  return checkedName([first]);
}

export function isPythonPackage(name: string): boolean {
  return distributionName.test(name);
}

/** `google`, `cloud`, `pubsub_v1` is `google-cloud-pubsub`: versions of an interface lie in one distribution. */
function checkedName(names: readonly string[]): string | null {
  const joined = names.length === 1 ? (names[0] ?? "") : names.join("-").replace(/_v\d+\w*$/, "");
  const name = joined.replaceAll("_", "-");
  return isPythonPackage(name) ? name : null;
}
