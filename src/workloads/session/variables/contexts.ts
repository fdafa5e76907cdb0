import {
  type ChosenRuntimeName,
  languageTable,
  runtimeNames,
  type LanguageName,
  type RuntimeName,
} from "../../../languages/language-table.ts";
import { Turns } from "../../../base/turns.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** Contexts of one session at once, those of the runtimes included. */
const maxContexts = 8;

/** What a context is made of, and keeps. */
export interface ContextSpec {
  readonly name: string;
  /** Of its first call; TypeScript and JavaScript are both at home in a context of Bun or Node. */
  readonly language: LanguageName;
  readonly toolchain: RuntimeName;
  /** Where its interpreter begins, an absolute path of the sandbox. */
  readonly workingDirectory: string;
}

/** One interpreter's worth of variables in a session (SPEC SE7), also while no interpreter is alive. */
export class Context {
  readonly name: string;
  readonly language: LanguageName;
  readonly toolchain: RuntimeName;
  readonly workingDirectory: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** When a call last began or ended in it; null: none has. */
  lastUsedAtMs: number | null = null;
  /** Whether calls have left variables that the next one expects. */
  hasVariables = false;
  /** Its calls run one after another. */
  readonly turns: Turns = new Turns();
  #stop = new AbortController();

  constructor(spec: ContextSpec, createdAtMs: number) {
    this.name = spec.name;
    this.language = spec.language;
    this.toolchain = spec.toolchain;
    this.workingDirectory = spec.workingDirectory;
    this.createdAtMs = createdAtMs;
  }

  /** Aborts, with an error that says so, when it is restarted or ended: for the calls that are in it or wait for it now. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Gives up the calls that are in it or wait for it. */
  stop(how: "restarted" | "ended"): void {
    this.#stop.abort(
      new GloveboxError("CANCELLED", `Context ${this.name} was ${how} before this call could begin.`, {
        suggestion: "Repeat the call: it begins without the variables of earlier ones.",
        context: { context: this.name },
      }),
    );
    this.#stop = new AbortController();
  }
}

/** The contexts of one session that keeps variables, in the order in which they were made. */
export class Contexts {
  readonly #now: () => number;
  readonly #folder: string;
  readonly #contexts = new Map<string, Context>();

  /** `now`: milliseconds since the epoch; `folder`: where an interpreter begins unless its context says otherwise. */
  constructor({ now, folder }: { readonly now: () => number; readonly folder: string }) {
    this.#now = now;
    this.#folder = folder;
  }

  get all(): readonly Context[] {
    return [...this.#contexts.values()];
  }

  /** Calls that wait for the turn of their context. */
  get waiting(): number {
    return this.all.reduce((sum, { turns }) => sum + turns.waiting, 0);
  }

  find(name: string): Context | undefined {
    return this.#contexts.get(name);
  }

  /** @throws NOT_FOUND */
  get(name: string): Context {
    const context = this.#contexts.get(name);
    if (context !== undefined) return context;
    throw new GloveboxError("NOT_FOUND", `This session has no context ${name}.`, {
      suggestion: "Use one that list_contexts shows, or make it: by create_context, or by a call that names it.",
      context: { context: name, contexts: [...this.#contexts.keys()] },
    });
  }

  /**
   * The context that a call means, which is made if there is none of that name.
   * @throws INVALID_REQUEST for one of another runtime, CAPACITY
   */
  ofCall(name: string | undefined, call: Pick<ContextSpec, "language" | "toolchain">): Context {
    const spec = { ...call, name: name ?? call.toolchain, workingDirectory: this.#folder };
    const known = this.#contexts.get(spec.name);
    if (known !== undefined && known.toolchain !== spec.toolchain) throw otherRuntime(spec, known.toolchain);
    return known ?? this.#add(spec);
  }

  /** A new one, whose interpreter starts with its first call. @throws ALREADY_EXISTS, INVALID_REQUEST, CAPACITY */
  create(spec: ContextSpec): Context {
    if (!this.#contexts.has(spec.name)) return this.#add(spec);
    throw new GloveboxError("ALREADY_EXISTS", `This session has a context ${spec.name} already.`, {
      suggestion: "Use it as it is, choose another name, or end it first with end_context.",
      context: { context: spec.name },
    });
  }

  /** Its name is free from now on. */
  remove(context: Context): void {
    if (this.#contexts.get(context.name) === context) this.#contexts.delete(context.name);
  }

  #add(spec: ContextSpec): Context {
    const own = ownRuntime(spec.name);
    if (own !== undefined && own !== spec.toolchain) throw otherRuntime(spec, own);
    if (this.#contexts.size >= maxContexts) {
      throw new GloveboxError("CAPACITY", `This session has ${maxContexts} contexts already.`, {
        suggestion: "End one that is not needed any more with end_context, use one of them, or open another session.",
        context: { limit: maxContexts, contexts: [...this.#contexts.keys()] },
      });
    }
    const context = new Context(spec, this.#now());
    this.#contexts.set(spec.name, context);
    return context;
  }
}

/** The language and the runtime that a call has in a context unless it says otherwise. */
export function usualIn(
  name: string,
  known: Context | undefined,
): { readonly language?: LanguageName; readonly runtime?: ChosenRuntimeName } {
  const toolchain = known?.toolchain ?? ownRuntime(name);
  if (toolchain === undefined) return {};
  const [only, ...others] = languageTable.filter(({ runtimes }) => runtimes.some((each) => each.name === toolchain));
  // Of a language that nothing else runs, none can be asked for.
  if (only?.runtimes.length === 1 && others.length === 0) return { language: only.name as LanguageName };
  return { runtime: toolchain as ChosenRuntimeName, ...(known === undefined ? {} : { language: known.language }) };
}

/** The runtime whose calls without a context use the one of this name. */
function ownRuntime(name: string): RuntimeName | undefined {
  return runtimeNames.find((each) => each === name);
}

function otherRuntime({ name, toolchain }: ContextSpec, own: RuntimeName): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `Context ${name} runs with ${own}, not with ${toolchain}.`, {
    suggestion: `Choose another name for a context of ${toolchain}, or leave language and runtime out for that of ${name}.`,
    context: { field: "context", context: name, runtime: own },
  });
}
