import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine } from "../../engines/engine.ts";
import { OptionalPackages } from "../../packages/imports/optional-packages.ts";
import type { ImportedPackages } from "../../packages/imports/scan-request.ts";
import type { Packages, ProvidedPackages } from "../../packages/packages.ts";
import type { Language } from "../../policy/language.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { ecosystemOf } from "../../policy/package-specs.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { Toolchain } from "./languages.ts";

/** What a program needs, and what it is built from. */
export interface NeededPackages {
  /** Named ones, or those that it imports. */
  readonly packages: readonly string[] | ImportedPackages;
  readonly language: Language;
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly network: NetworkPolicy;
}

/** Where the program will run. */
export interface ProgramPlace {
  readonly engine: Engine;
  readonly capabilities: Capabilities;
  readonly toolchain: Toolchain;
}

/** A program's packages: null when it needs none. */
export interface ProgramPackages {
  readonly provided: ProvidedPackages | null;
  /** What the result must tell, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * The packages that a program asks for. Imported ones are those that its image has not, and none where nothing can be
 * installed: its image may have them all the same. @throws what `Packages.provide` throws
 */
export async function providePackages(
  { packages: wanted, language, image, ociRuntime, network: runNetwork }: NeededPackages,
  { engine, capabilities, toolchain }: ProgramPlace,
  packages: Pick<Packages, "provide" | "installsFor" | "notOfImage">,
  { onProgress, ...caller }: Caller & { readonly onProgress: (message: string) => void },
): Promise<ProgramPackages> {
  const ecosystem = ecosystemOf(language);
  const place = { engine, capabilities, image, ociRuntime, runNetwork, interpreter: toolchain, ecosystem };
  const provide = async (specs: readonly string[], isGuess: boolean): Promise<ProvidedPackages | null> =>
    specs.length === 0 ? null : packages.provide({ ...place, specs, isGuess }, caller, onProgress);
  if (!("needed" in wanted)) return { provided: await provide(wanted, false), notes: [] };
  const { needed, optional } = wanted;
  if (needed.length + optional.length === 0 || !packages.installsFor(place)) return { provided: null, notes: [] };
  const missing = await packages.notOfImage(place, wanted, caller);
  const chosen = new OptionalPackages(ecosystem);
  for (;;) {
    try {
      const provided = await provide(chosen.specsOf(missing), missing.optional.length > 0);
      return { provided, notes: chosen.notes };
    } catch (error) {
      if (!chosen.leaveOut(error, missing)) throw error;
    }
  }
}
