import type { RuntimeName } from "../../languages/language-table.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine, CallOptions } from "../../engines/engine.ts";
import { OptionalPackages, withWayOut, type ImportedPackages } from "../../packages/imported-packages.ts";
import type { Packages, PackagesRequest } from "../../packages/packages.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { checkPackages, type Ecosystem } from "../../policy/install-policy.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { FindImportsInput } from "../../packages/find-imports.ts";

/** What a program needs, and what it is built from. */
interface NeededPackages {
  readonly packages: readonly string[];
  readonly ecosystem: Ecosystem;
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly network: NetworkPolicy;
}

/** Where the program will run. */
export interface ProgramPlace {
  readonly engine: Engine;
  readonly capabilities: Capabilities;
  readonly toolchain: RuntimeName;
}

/** Who asks, and who is told. */
export type Follow = Caller & { readonly onProgress: (message: string) => void };

/** The packages that a program requests, null when it requests none. @throws what `Packages.provide` throws */
export async function providePackages(
  { packages: specs, ...needed }: NeededPackages,
  place: ProgramPlace,
  packages: Pick<Packages, "provide">,
  { onProgress, ...caller }: Follow,
): Promise<ProvidedPackages | null> {
  return specs.length === 0 ? null : packages.provide({ ...placeOf(needed, place), specs }, caller, onProgress);
}

/** The packages of what a program imports: null when it needs none. */
export interface ProgramPackages {
  readonly provided: ProvidedPackages | null;
  /** What the result must report, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * The imported packages that the program's image has not; none where nothing can be installed, for the image may have
 * them all the same.
 * @throws what `Packages.provide` throws for those that it needs
 */
export async function provideImports(
  { needed, optional }: ImportedPackages,
  program: Omit<NeededPackages, "packages">,
  place: ProgramPlace,
  packages: Pick<Packages, "provide" | "installsFor" | "notOfImage">,
  { onProgress, ...caller }: Follow,
): Promise<ProgramPackages> {
  const request = placeOf(program, place);
  if (needed.length + optional.length === 0 || !packages.installsFor(request)) return { provided: null, notes: [] };
  const missing = await packages.notOfImage(request, { needed, optional }, caller);
  const isGuess = missing.optional.length > 0;
  const chosen = new OptionalPackages(request.ecosystem);
  for (;;) {
    const specs = chosen.specsOf(missing);
    if (specs.length === 0) return { provided: null, notes: chosen.notes };
    try {
      return {
        provided: await packages.provide({ ...request, specs, isGuess }, caller, onProgress),
        notes: chosen.notes,
      };
    } catch (error) {
      if (!chosen.leaveOut(error, missing)) throw withWayOut(error, missing);
    }
  }
}

/** Imported packages in the form of named ones. @throws INVALID_REQUEST */
export function checkImports({ needed, optional }: ImportedPackages, ecosystem: Ecosystem): ImportedPackages {
  return { needed: checkPackages(needed, ecosystem), optional: checkPackages(optional, ecosystem) };
}

/** Finds the packages that code imports. @throws INVALID_REQUEST, TIMEOUT, CANCELLED */
export type FindImports = (input: FindImportsInput, options: CallOptions) => Promise<ImportedPackages>;

function placeOf(
  { ecosystem, image, ociRuntime, network: runNetwork }: Omit<NeededPackages, "packages">,
  { engine, capabilities, toolchain }: ProgramPlace,
): Omit<PackagesRequest, "specs"> {
  return { engine, capabilities, image, ociRuntime, runNetwork, interpreter: toolchain, ecosystem };
}
