import { checkMainFile } from "../../policy/request/main-file.ts";
import { ecosystemOf, packageName, type Ecosystem } from "../../policy/package-specs.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { OptionalPackages, withWayOut } from "../../packages/imports/optional-packages.ts";
import type { ImportedPackages } from "../../packages/imports/scan-request.ts";
import { checkImports } from "../program/check-imports.ts";
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

/** What one call needs from its session's sandbox. */
export interface CallNeeds extends SandboxNeeds {
  readonly ecosystem: Ecosystem;
  /** The packages of this call, known once `missing` was asked. */
  readonly wanted: readonly string[];
  /** What the result must report about those that are left out. */
  readonly notes: readonly string[];
  /** Whether there are fewer packages to try, after an error of their installation. */
  leaveOut(error: unknown): boolean;
  /** What to throw for an error after which nothing can be left out. */
  explain(error: unknown): unknown;
}

/** The session's sandbox with the packages that the call names, or imports. */
export function needsOfCall(options: NeedsOfCallOptions): CallNeeds {
  const { packages, language } = options.call;
  const ecosystem = ecosystemOf(language);
  const imports = new CallImports(options, ecosystem);
  const chosen = new OptionalPackages(ecosystem);
  let wanted: readonly string[] = [];
  let imported: ImportedPackages = { needed: [], optional: [] };
  return {
    ...noExtraNeeds(options.settings, { ...options, isGuess: () => imported.optional.length > 0 }),
    ecosystem,
    get wanted() {
      return wanted;
    },
    get notes() {
      return chosen.notes;
    },
    leaveOut: (error) => chosen.leaveOut(error, imported),
    explain: (error) => withWayOut(error, imported),
    missing: async (known, live, caller) => {
      if (packages === "auto") {
        const found = await imports.of(known, live, caller);
        if (found === undefined) return undefined;
        imported = found;
      }
      wanted = packages === "auto" ? chosen.specsOf(imported) : packages;
      return withPackages(known, ecosystem, wanted);
    },
  };
}

/** The packages that a call's code imports. */
class CallImports {
  readonly #options: NeedsOfCallOptions;
  readonly #ecosystem: Ecosystem;
  #found: ImportedPackages | undefined;

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
  ): Promise<ImportedPackages | undefined> {
    this.#found ??= await this.#find([], signal);
    const found = this.#found;
    const all = [...found.needed, ...found.optional];
    if (this.#ecosystem !== "python" || withPackages(known, this.#ecosystem, all) === null) return found;
    if (live === null) return undefined;
    const own = await ownModules(live.sandbox, { folder: live.profile.workingDirectory, signal });
    const foreign = await this.#find(own.paths, signal);
    const isForeign = (spec: string): boolean => !own.distributions.has(packageName(spec, "python"));
    return { needed: foreign.needed.filter(isForeign), optional: foreign.optional.filter(isForeign) };
  }

  async #find(paths: readonly string[], signal: AbortSignal | undefined): Promise<ImportedPackages> {
    const { call, findImports } = this.#options;
    const { language, code: content } = call;
    const files = [
      { path: checkMainFile(undefined, language), content },
      ...paths.map((path) => ({ path, content: "" })),
    ];
    return checkImports(await findImports({ language, files }, { signal }), this.#ecosystem);
  }
}
