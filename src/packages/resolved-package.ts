import type { Ecosystem } from "../policy/install-policy.ts";

/** A package as it was installed, in its version. */
export interface ResolvedPackage {
  readonly name: string;
  readonly version: string;
}

interface Grammar {
  readonly name: RegExp;
  readonly version: RegExp;
}

const maxNameCharacters = 214;
const maxVersionCharacters = 256;

/** Wider than what the registries take today: old packages stay. */
const grammars: Readonly<Record<Ecosystem, Grammar>> = {
  npm: { name: /^(?:@[a-z0-9~._-]+\/)?[a-z0-9~._-]+$/i, version: /^[a-z0-9.+_~-]+$/i },
  python: { name: /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i, version: /^[a-z0-9.!+_-]+$/i },
};

/**
 * The packages that a packer says are installed. They are kept and shown to people and agents, and what says them ran
 * what strangers wrote: names and versions of each ecosystem's own form, and nothing else.
 * @throws RangeError
 */
export function parsePackages(value: unknown, ecosystem: Ecosystem): readonly ResolvedPackage[] {
  const { packages } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(packages)) throw new RangeError("no packages");
  return packages.map((entry: unknown) => {
    const [name, version] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const grammar = grammars[ecosystem];
    if (!isOf(grammar.name, name, maxNameCharacters)) throw new RangeError("a package's name is none");
    if (!isOf(grammar.version, version, maxVersionCharacters)) throw new RangeError(`the version of ${name} is none`);
    return { name, version };
  });
}

function isOf(form: RegExp, value: unknown, maxCharacters: number): value is string {
  return typeof value === "string" && value.length <= maxCharacters && form.test(value);
}
