import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Packages, ProvidedPackages } from "../../packages/packages.ts";
import type { Language } from "../../policy/language.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { ecosystemOf } from "../../policy/package-specs.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { Toolchain } from "./languages.ts";

/** What a program needs, and what it is built from. */
export interface NeededPackages {
  readonly packages: readonly string[];
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

/** The packages that a program asks for, null when it asks for none. @throws what `Packages.provide` throws */
export async function providePackages(
  { packages: specs, language, image, ociRuntime, network: runNetwork }: NeededPackages,
  { engine, capabilities, toolchain }: ProgramPlace,
  packages: Pick<Packages, "provide">,
  { onProgress, ...caller }: Caller & { readonly onProgress: (message: string) => void },
): Promise<ProvidedPackages | null> {
  if (specs.length === 0) return null;
  const ecosystem = ecosystemOf(language);
  const request = { engine, capabilities, image, ociRuntime, runNetwork, interpreter: toolchain, ecosystem, specs };
  return packages.provide(request, caller, onProgress);
}
