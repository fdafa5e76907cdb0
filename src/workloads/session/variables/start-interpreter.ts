import { runtimeOf, type RuntimeName } from "../../../languages/language-table.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { codeFolder } from "../../../policy/profile.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { Notebook } from "../../../languages/language.ts";
import { readRunnerFile, encodeJob } from "../../program/runner-job.ts";
import type { RunnerKind } from "../../program/waiting-runner.ts";
import type { SessionSandbox } from "../session-sandbox.ts";
import type { Context } from "./contexts.ts";
import { KeptInterpreter } from "./kept-interpreter.ts";

/** What a context's interpreter is started as: its file is in a folder of its own, since several may start at once. */
export function interpreterKind({ name, toolchain }: Context): RunnerKind {
  return { toolchain, mainFile: `${name}/${notebookOf(toolchain).main}` };
}

/** @throws UNSUPPORTED for a runtime that keeps no variables */
export function notebookOf(runtime: RuntimeName): Notebook {
  const { notebook } = runtimeOf(runtime);
  if (notebook !== null) return notebook;
  throw new GloveboxError(
    "UNSUPPORTED",
    `Sessions with keep_variables run no ${runtime}: nothing keeps its variables.`,
    {
      suggestion: "Use a session without keep_variables, or another language.",
      context: { field: "language", runtime },
    },
  );
}

/**
 * The interpreter of a context, which is started as a program of the sandbox when there is none.
 * @throws what `exec` throws
 */
export async function startInterpreter(
  live: SessionSandbox,
  context: Context,
  environment: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<KeptInterpreter> {
  const known = live.interpreters.get(context);
  if (known !== undefined && !known.isOver) {
    // A program of another context, which is the same user, may have stopped it.
    known.process.resume?.();
    return known;
  }
  const { sandbox, profile } = live;
  const { main, files: scripts } = notebookOf(context.toolchain);
  const files = await Promise.all(
    Object.entries(scripts).map(async ([path, file]) => ({ path, content: Buffer.from(await readRunnerFile(file)) })),
  );
  const process = await live.runner.take(interpreterKind(context), options);
  const job = encodeJob({
    main,
    arguments: [],
    environment,
    files,
    folder: `${sandbox.folderOf(codeFolder)}/${context.name}`,
    workingDirectory: sandbox.folderOf(profile.workingDirectory),
    empties: true,
  });
  for (const piece of job) process.stdin.write(piece);
  const interpreter = new KeptInterpreter(process);
  // Contexts that are gone may have left some.
  for (const [each, { isOver }] of live.interpreters) if (isOver) live.interpreters.delete(each);
  live.interpreters.set(context, interpreter);
  return interpreter;
}
