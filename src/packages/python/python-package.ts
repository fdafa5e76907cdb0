import { distributions } from "./distributions.ts";
import { namespacePrefixes, namespaces } from "./namespaces.ts";
import { standardLibrary } from "./standard-library.ts";

/** The index's rule for names, and the bound that a few of {@link distributions} have. */
const distributionName = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?(?:<\d{1,4})?$/i;

/** `pubsub_v1` in `google.cloud.pubsub_v1`: versions of an interface lie in one distribution. */
const interfaceVersion = /(?<=\w)_v\d\w{0,100}$/;

/**
 * The distribution to install for a module's dotted path, which may go on beyond the module (`yaml.safe_load` gives
 * `PyYAML`). Null for the standard library, for a namespace alone, and for what cannot be a distribution's name.
 */
export function pythonPackage(path: string): string | null {
  const [first = "", ...others] = path.split(".");
  const names = [first, ...others.map((name) => name.replace(interfaceVersion, ""))];
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

function checkedName(names: readonly string[]): string | null {
  const joined = names.join("-").replaceAll("_", "-");
  const [from, to] = [...namespacePrefixes].find(([prefix]) => joined.startsWith(prefix)) ?? ["", ""];
  const name = `${to}${joined.slice(from.length)}`;
  return isPythonPackage(name) ? name : null;
}
