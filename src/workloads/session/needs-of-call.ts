import { checkMainFile } from "../../policy/request/main-file.ts";
import { checkPackages, ecosystemOf, packageName, type Ecosystem } from "../../policy/package-specs.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { FindImports } from "../program/find-imports.ts";
import { noExtraNeeds } from "./no-extra-needs.ts";
import type { OpenSessionOptions } from "./open-session-sandbox.ts";
import { ownModules } from "./packages/own-modules.ts";
import { withPackages, type SessionPackages } from "./packages/session-packages.ts";
import type { SandboxNeeds } from "./sandbox-needs.ts";
import type { SessionCall, SessionSettings } from "./session-call.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

export interface NeedsOfCallOptions extends OpenSessionOptions {
  readonly settings: SessionSettings;
  readonly call: SessionCall;
  readonly findImports: FindImports;
}

/** What one call needs of its session's sandbox. */
export interface CallNeeds extends SandboxNeeds {
  readonly ecosystem: Ecosystem;
  /** The packages of this call, known once `missing` was asked. */
  readonly wanted: readonly string[];
}

/** The session's sandbox with the packages that the call names, or imports. */
export function needsOfCall(options: NeedsOfCallOptions): CallNeeds {
  const { packages, language } = options.call;
  const ecosystem = ecosystemOf(language);
  const imports = new CallImports(options, ecosystem);
  let wanted: readonly string[] = [];
  return {
    ...noExtraNeeds(options.settings, options),
    ecosystem,
    get wanted() {
      return wanted;
    },
    missing: async (known, live, caller) => {
      const found = packages === "auto" ? await imports.of(known, live, caller) : packages;
      if (found === undefined) return undefined;
      wanted = found;
      return withPackages(known, ecosystem, found);
    },
  };
}

/** The packages that a call's code imports. */
class CallImports {
  readonly #options: NeedsOfCallOptions;
  readonly #ecosystem: Ecosystem;
  #found: readonly string[] | undefined;

  constructor(options: NeedsOfCallOptions, ecosystem: Ecosystem) {
    this.#options = options;
    this.#ecosystem = ecosystem;
  }

  /**
   * What Python has by itself, and modules among the session's own files, are no packages to install: undefined when that
   * cannot be told, because there is no sandbox to ask.
   */
  async of(
    known: SessionPackages,
    live: SessionSandbox | null,
    { signal }: Caller,
  ): Promise<readonly string[] | undefined> {
    this.#found ??= await this.#find([], signal);
    const found = this.#found;
    if (this.#ecosystem !== "python" || withPackages(known, this.#ecosystem, found) === null) return found;
    if (live === null) return undefined;
    const own = await ownModules(live.sandbox, { signal });
    const foreign = await this.#find(own.paths, signal);
    return foreign.filter((spec) => !own.distributions.has(packageName(spec, "python")));
  }

  async #find(paths: readonly string[], signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { call, findImports } = this.#options;
    const { language, code: content } = call;
    const files = [
      { path: checkMainFile(undefined, language), content },
      ...paths.map((path) => ({ path, content: "" })),
    ];
    return checkPackages(await findImports({ language, files }, { signal }), this.#ecosystem);
  }
}
