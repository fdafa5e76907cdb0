import { packageName, usualName, type Ecosystem } from "../policy/install-policy.ts";
import { createHash } from "node:crypto";
import type { EngineName } from "../engines/engine.ts";
import type { PackageManager } from "./package-manager.ts";

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

/** Where a set was installed, and so who may use it (SPEC PK4). */
interface PackageOrigin {
  readonly engine: EngineName;
  /** Digest of the image whose tools installed it; where there are no images, the name of the host's interpreters. */
  readonly image: string;
  /** Whether the tool ran on this machine itself, outside a sandbox. */
  readonly onHost: boolean;
  /** Whose alone it is, because the image was a caller's choice; null: of all, the operator having configured the image. */
  readonly principal: string | null;
}

/** What installed a project's dependencies; never the tool of a list of packages, so that no list can mean such a set. */
export type ProjectManager = `project/${string}`;

/** What makes two sets of packages the same one. */
export interface PackageSetKey {
  readonly ecosystem: Ecosystem;
  readonly manager: PackageManager | ProjectManager;
  readonly origin: PackageOrigin;
  /** The interpreter's version as far as packages depend on it, operating system, processor and C library: its own words. */
  readonly platform: string;
  /** As `checkPackages` gives them; of a project the names of files, and a digest. */
  readonly requested: readonly string[];
}

/** What is written beside the files of a set. */
export interface PackageSetRecord extends PackageSetKey {
  readonly version: 2;
  readonly packages: readonly ResolvedPackage[];
  readonly files: number;
  readonly folders: number;
  /** Room on the disk: whole blocks, one at least for each file and folder. */
  readonly bytes: number;
  readonly createdAtMs: number;
}

/** Folder name of a set. */
export function packageSetId({ ecosystem, manager, origin, platform, requested }: PackageSetKey): string {
  const { engine, image, onHost, principal } = origin;
  const text = JSON.stringify([2, ecosystem, manager, [engine, image, onHost, principal], platform, requested]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

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

function specOf({ name, version }: Installed["packages"][number], ecosystem: Ecosystem): string {
  return `${name}${ecosystem === "python" ? "==" : "@"}${version}`;
}

function isOf(form: RegExp, value: unknown, maxCharacters: number): value is string {
  return typeof value === "string" && value.length <= maxCharacters && form.test(value);
}
