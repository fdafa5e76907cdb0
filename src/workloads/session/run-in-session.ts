import type { RuntimeName } from "../../languages/language-table.ts";
import { untilCancelled } from "../../base/abort.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { EngineName, CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Redaction } from "../../policy/redaction.ts";
import { checkMainFile } from "../../languages/main-file.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { compileFiles, type CompiledFiles } from "../program/compile-files.ts";
import { plainException, type CallException, type Display } from "./variables/read-report.ts";
import { interpreterKind, notebookOf } from "./variables/start-interpreter.ts";
import type { MakeNotebookCode } from "./variables/make-notebook-code.ts";
import { describeWork } from "../run/describe-work.ts";
import { loggingFailure, type RunIds } from "../run/conclude-run.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import { syntaxFailure } from "../program/program-failure.ts";
import type { CompileTypeScript } from "../program/typescript-compiler.ts";
import type { Packages } from "../../packages/packages.ts";
import { checkImports, type FindImports } from "../program/provide-packages.ts";
import { chooseRuntime } from "../../languages/choose-runtime.ts";
import { checkEngine } from "../program/check-engine.ts";
import { refusedResult, type RunResult, type ProgramResult } from "../run/program-result.ts";
import type { ProvideImage } from "../program/ensure-image.ts";
import {
  programVariables,
  noExtraNeeds,
  type OpeningListener,
  type OpenSessionOptions,
  type SandboxNeeds,
  type SessionSandbox,
} from "./session-sandbox.ts";
import { prepareNext, runCall } from "./run-call.ts";
import type { OpenLargeScratch } from "../run/watched-scratch.ts";
import type { SessionCall, SessionSettings } from "./session-call.ts";
import type { Session } from "./session.ts";
import type { Context } from "./variables/contexts.ts";
import { ecosystemOf, packageName, type Ecosystem } from "../../policy/install-policy.ts";
import { OptionalPackages, withWayOut, type ImportedPackages } from "../../packages/imported-packages.ts";
import { withPackages, type SessionPackages, type SandboxPackages } from "./session-packages.ts";
import { isolatedPython, runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** What a sandbox's Python has of its own, and what is in the working folder: nobody else's packages. */
interface OwnModules {
  /** Names of distributions, in the usual form. */
  readonly distributions: ReadonlySet<string>;
  /** Python files at the top of the working folder; its folders count as packages. */
  readonly paths: readonly string[];
}

const program = `
import importlib.metadata, json, os, sys
names = [d.metadata["Name"] or "" for d in importlib.metadata.distributions()]
paths = [e.name + "/__init__.py" if e.is_dir() else e.name for e in os.scandir(sys.argv[1])]
print(json.dumps([names[:5000], paths[:5000]]))
`;
import type { Kit } from "../../base/kit.ts";

/** Asks the sandbox's Python; what is not available counts as nothing. @throws CANCELLED, SANDBOX_LOST */
async function ownModules(
  sandbox: Pick<Sandbox, "exec" | "folderOf" | "capabilities">,
  { folder, signal }: CallOptions & { readonly folder: string },
): Promise<OwnModules> {
  const command = [...isolatedPython(sandbox.capabilities), "-c", program, sandbox.folderOf(folder)];
  const { stdout } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: 1_000_000, timeLimitMs: 20_000 },
    { signal },
  );
  const [names, paths] = parse(stdout.text());
  return { distributions: new Set(names.map((name) => name.toLowerCase().replaceAll(/[-_.]+/g, "-"))), paths };
}

/** Only strings are accepted: the program chooses the names of its files. */
function parse(text: string): readonly [readonly string[], readonly string[]] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Cut off, or there is no Python: then nothing is known.
    return [[], []];
  }
  const [names, paths] = Array.isArray(answer) ? (answer as unknown[]) : [];
  return [strings(names), strings(paths)];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

export interface SessionDependencies extends Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly sandboxes: Sandboxes;
  readonly provideImage: ProvideImage;
  readonly packages: Pick<Packages, "provide" | "openView" | "installsFor">;
  readonly findImports: FindImports;
  /** Cap of each output stream in bytes (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly compileTypeScript: CompileTypeScript;
  readonly makeNotebookCode: MakeNotebookCode;
  readonly network: GrantNetwork;
  readonly openLargeScratch: OpenLargeScratch;
}

/** What a call reports while it runs. */
export interface SessionListener extends OpeningListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
}

/**
 * Runs a program in the session when it is its turn (SPEC SE1): a fresh interpreter, the files of the calls before.
 *
 * A program that fails, runs out of time or memory, or does not compile is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, and CANCELLED when given up before it started
 */
export function runInSession(
  session: Session,
  call: SessionCall,
  dependencies: SessionDependencies,
  follow: Follow,
): Promise<SessionResult> {
  const ids: RunIds = { id: follow.caller.runId, principal: session.principal, session: session.id };
  return loggingFailure(dependencies.logger, ids, () => runAs(ids, session, call, { dependencies, ...follow }));
}

/** Who asks, and who is told. */
interface Follow {
  readonly caller: Caller;
  readonly listener: SessionListener;
}

async function runAs(
  ids: RunIds,
  session: Session,
  call: SessionCall,
  { dependencies, caller, listener }: Follow & { readonly dependencies: SessionDependencies },
): Promise<SessionResult> {
  const { engine, ociRuntime } = session.settings;
  const { capabilities, warnings } = await checkEngine(session.settings, call, caller);
  if (Object.keys(call.variables).length > 0 && runsInterpretersOnly(capabilities)) throw noVariables(engine.name);
  const toolchain = chooseRuntime({ ...call, usual: "session" }, capabilities, engine.name);
  const { keepsVariables } = session.settings;
  const context = keepsVariables ? session.contexts.ofCall(call.context, { ...call, toolchain }) : null;
  // From now on, also while its code is compiled.
  const stopped = context?.stopped;
  const mine = stopped === undefined ? caller : untilStopped(caller, stopped);
  const compiled = await preparedCode(call, toolchain, keepsVariables, dependencies, caller);
  const facts = {
    sessionId: session.id,
    engine: engine.name,
    isolation: capabilities.isolation,
    ociRuntime: ociRuntime ?? null,
    context: context?.name ?? null,
  };
  if ("syntaxError" in compiled) {
    const refused = refusedResult(syntaxFailure(compiled.syntaxError), warnings);
    const exception = keepsVariables ? syntaxException(refused, session.secrets.redaction()) : null;
    return { ...facts, ...refused, restarted: false, packages: [], displays: [], exception, variablesLost: null };
  }
  const grant = await untilCancelled(dependencies.network.grant(call.network, caller.principal), caller.signal);
  // Where nothing can be installed, the program has what its image or the host has.
  const place = { capabilities, image: session.settings.image, runNetwork: call.network };
  const packages = call.packages === "auto" && !dependencies.packages.installsFor(place) ? [] : call.packages;
  const wanted = { settings: session.settings, call: { ...call, packages }, runNetwork: call.network };
  const needs = needsOfCall({ ...dependencies, listener, ...wanted });
  return useWith(session, needs, mine, context, async (opened, { signal }) => {
    const { live, before, restarted } = opened;
    ids.sandbox = live.id;
    session.secrets.add(call.secrets);
    const work = describeWork(call.language, call.code, session.secrets.redaction());
    const record = (ids.record = live.sandbox.beginRun({ ...ids, ...call, work }));
    listener.onSandbox(live.id);
    const hadLost = context !== null && context.hasVariables && !live.keepsVariablesOf(context);
    if (context !== null) context.lastUsedAtMs = dependencies.now();
    const result = await runCall(live, {
      ...dependencies,
      context,
      ...listener,
      ids,
      record,
      call,
      redaction: session.secrets.redaction(),
      toolchain,
      files: compiled.files,
      grant,
      // An interpreter that goes on has those of one call until its end.
      environment: programVariables(live, grant, {
        ...call.hostEnvironment,
        ...(keepsVariables ? {} : call.variables),
      }),
      before,
      signal,
    });
    const endsNow = context !== null && !live.keepsVariablesOf(context);
    if (context !== null) {
      context.hasVariables = !endsNow;
      context.lastUsedAtMs = dependencies.now();
    }
    if (endsNow) live.runner.prepare(interpreterKind(context));
    else if (!keepsVariables)
      prepareNext(live, {
        call,
        toolchain,
        outcome: result.outcome,
        hasProcesses: session.processes.running.length > 0,
      });
    const variables = [
      hadLost ? goneBefore : [],
      endsNow ? goneNow : [],
      stopped?.aborted === true ? stoppedNow : [],
    ].flat();
    const notes = [
      needs.notes,
      live.packages.warnings,
      live.profile.scratch.note ?? [],
      opened.warnings,
      variables,
    ].flat();
    const packages = needs.resolved(live.packages);
    const variablesLost = keepsVariables ? variables.length > 0 : null;
    return {
      ...facts,
      ...result,
      restarted,
      packages,
      variablesLost,
      warnings: [...warnings, ...notes, ...result.warnings],
    };
  });
}

function isCancelled(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && error.errorType === "CANCELLED";
}

/** The caller, who also gives up when the call's context is restarted or ended. */
function untilStopped(caller: Caller, stopped: AbortSignal): Caller {
  return { ...caller, signal: AbortSignal.any([stopped, ...(caller.signal === undefined ? [] : [caller.signal])]) };
}

/** The exception of a call that was refused before its interpreter saw it. */
function syntaxException({ error, stderr }: RunResult, redaction: Redaction): CallException {
  const exception = { name: "SyntaxError", value: error?.message ?? "", traceback: stderr.trimEnd() };
  return plainException(exception, redaction);
}

/** The call's code as its interpreter takes it: one that keeps variables, or a fresh one. */
async function preparedCode(
  { language, code }: SessionCall,
  toolchain: RuntimeName,
  keepsVariables: boolean,
  { makeNotebookCode, compileTypeScript: compile }: SessionDependencies,
  { signal }: Caller,
): Promise<CompiledFiles> {
  const path = checkMainFile(undefined, language);
  if (keepsVariables && notebookOf(toolchain).rewritesCode)
    return makeNotebookCode({ path, language, code }, { signal });
  return compileFiles([{ path, content: Buffer.from(code) }], toolchain, { compile, signal });
}

/** Uses the session, without packages that cannot be installed and that the program may do without. */
async function useWith<T>(
  session: Session,
  needs: CallNeeds,
  caller: Caller,
  context: Context | null,
  work: Parameters<typeof session.use<T>>[2],
): Promise<T> {
  try {
    return await session.use(caller, needs, work, context);
  } catch (error) {
    const reason: unknown = caller.signal?.reason;
    if (isCancelled(error) && isCancelled(reason)) throw reason;
    if (!needs.leaveOut(error)) throw needs.explain(error);
    return useWith(session, needs, caller, context, work);
  }
}

/** There they could change the guard that the program runs behind. */
function noVariables(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} gives calls of a session no environment variables here.`, {
    suggestion:
      "Leave environment out, use execute_code, or choose an engine whose isolation is at least namespaces for the session.",
    context: { engine, field: "environment" },
  });
}

const stoppedNow = "The context was restarted or ended during this call.";
const goneBefore =
  "The variables of earlier calls are gone: their interpreter had ended. This call has begun without them, in a new one.";
const goneNow =
  "The interpreter has ended with this call, and all variables are gone: the next call begins without any.";

/** The outcome of one call of `run_code`. */
interface SessionResult extends ProgramResult {
  readonly sessionId: string;
  /** Whether this call runs in another sandbox than the one before it. */
  readonly restarted: boolean;
  /** The packages of this call in the versions that it had. */
  readonly packages: readonly string[];
  /** What the call displays in addition to its output. */
  readonly displays: readonly Display[];
  /** The exception that ended it; null where none did, and in a session that keeps no variables. */
  readonly exception: CallException | null;
  /** Where its variables are; null in a session that keeps none. */
  readonly context: string | null;
  /** Whether variables of earlier calls, or its own, are gone; null in a session that keeps none. */
  readonly variablesLost: boolean | null;
}

interface NeedsOfCallOptions extends OpenSessionOptions {
  readonly settings: SessionSettings;
  readonly call: SessionCall;
  readonly findImports: FindImports;
}

/** What one call needs from its session's sandbox. */
interface CallNeeds extends SandboxNeeds {
  /** The packages of this call in the versions that the sandbox has, known once `missing` was asked. */
  resolved(packages: SandboxPackages): readonly string[];
  /** What the result must report about those that are left out. */
  readonly notes: readonly string[];
  /** Whether there are fewer packages to try, after an error of their installation. */
  leaveOut(error: unknown): boolean;
  /** What to throw for an error after which nothing can be left out. */
  explain(error: unknown): unknown;
}

/** The session's sandbox with the packages that the call names, or imports. */
function needsOfCall(options: NeedsOfCallOptions): CallNeeds {
  const { packages, language } = options.call;
  const ecosystem = ecosystemOf(language);
  if (ecosystem === null) return withoutPackages(options);
  const imports = new CallImports(options, ecosystem);
  const chosen = new OptionalPackages(ecosystem);
  let wanted: readonly string[] = [];
  let imported: ImportedPackages = { needed: [], optional: [] };
  return {
    ...noExtraNeeds(options.settings, { ...options, isGuess: () => imported.optional.length > 0 }),
    resolved: (packages) => packages.resolved(ecosystem, wanted),
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

/** What a call needs whose language has no packages. */
function withoutPackages(options: NeedsOfCallOptions): CallNeeds {
  return {
    ...noExtraNeeds(options.settings, options),
    resolved: () => [],
    notes: [],
    leaveOut: () => false,
    explain: (error) => error,
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
