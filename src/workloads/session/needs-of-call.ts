import { checkMainFile } from "../../policy/request/main-file.ts";
import { checkPackages, ecosystemOf, packageName, type Ecosystem } from "../../policy/package-specs.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { FindImports } from "../program/find-imports.ts";
import { openSessionSandbox, prepareSessionSandbox, type OpenSessionOptions } from "./open-session-sandbox.ts";
import { ownModules } from "./packages/own-modules.ts";
import type { SessionCall, SessionSettings } from "./session-call.ts";
import { withPackages, type SessionPackages } from "./packages/session-packages.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import type { SandboxWish } from "./session.ts";

export interface CallWishOptions extends OpenSessionOptions {
  readonly settings: SessionSettings;
  readonly call: SessionCall;
  readonly findImports: FindImports;
}

/** What one call needs of its session's sandbox. */
export class CallWish implements SandboxWish {
  readonly ecosystem: Ecosystem;
  readonly #options: CallWishOptions;
  /** The packages of this call, known once `missing` was asked. */
  wanted: readonly string[] = [];
  #found: readonly string[] | undefined;

  constructor(options: CallWishOptions) {
    this.#options = options;
    this.ecosystem = ecosystemOf(options.call.language);
  }

  async missing(
    known: SessionPackages,
    live: SessionSandbox | null,
    caller: Caller,
  ): Promise<SessionPackages | null | undefined> {
    const { packages } = this.#options.call;
    const wanted = packages === "auto" ? await this.#imported(known, live, caller) : packages;
    if (wanted === undefined) return undefined;
    this.wanted = wanted;
    return withPackages(known, this.ecosystem, wanted);
  }

  prepare(packages: SessionPackages, caller: Caller): ReturnType<SandboxWish["prepare"]> {
    return prepareSessionSandbox(this.#options.settings, packages, this.#options, caller);
  }

  open(...[packages, caller]: Parameters<SandboxWish["open"]>): ReturnType<SandboxWish["open"]> {
    return openSessionSandbox(this.#options.settings, packages, this.#options, caller);
  }

  /**
   * By its imports. What Python has by itself, and modules among the session's own files, are no packages to install:
   * undefined when that cannot be told, because there is no sandbox to ask.
   */
  async #imported(
    known: SessionPackages,
    live: SessionSandbox | null,
    { signal }: Caller,
  ): Promise<readonly string[] | undefined> {
    this.#found ??= await this.#find([], signal);
    const found = this.#found;
    if (this.ecosystem !== "python" || withPackages(known, this.ecosystem, found) === null) return found;
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
    return checkPackages(await findImports({ language, files }, { signal }), this.ecosystem);
  }
}
