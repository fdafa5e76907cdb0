import { readPackagedScript } from "../../../base/packaged-script.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { codeFolder } from "../../../policy/session-profile.ts";
import type { Toolchain } from "../../program/languages.ts";
import { encodeJob } from "../../program/runner-job.ts";
import type { RunnerKind } from "../../program/waiting-runner.ts";
import type { SessionSandbox } from "../session-sandbox.ts";
import type { Context } from "./contexts.ts";
import { KeptInterpreter } from "./kept-interpreter.ts";

/** The interpreter's own file, in the folder of its context. */
export const interpreterMain = { python: "main.py", javascript: "main.js" } as const;

/** Its files, by their paths in that folder. */
const scripts: Readonly<Record<keyof typeof interpreterMain, Readonly<Record<string, URL>>>> = {
  python: {
    [interpreterMain.python]: new URL("../../../../images/runners/python-interpreter.py", import.meta.url),
    "charts.py": new URL("../../../../images/runners/python-charts.py", import.meta.url),
    "lines.py": new URL("../../../../images/runners/python-lines.py", import.meta.url),
  },
  javascript: {
    [interpreterMain.javascript]: new URL("../../../../images/runners/javascript-interpreter.cjs", import.meta.url),
  },
};

/** What a context's interpreter is started as: its file is in a folder of its own, since several may start at once. */
export function interpreterKind({ name, toolchain }: Context): RunnerKind {
  return { toolchain, mainFile: `${name}/${interpreterMain[interpreterOf(toolchain)]}` };
}

function interpreterOf(toolchain: Toolchain): keyof typeof interpreterMain {
  return toolchain === "python" ? "python" : "javascript";
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
  const language = interpreterOf(context.toolchain);
  const main = interpreterMain[language];
  const files = await Promise.all(
    Object.entries(scripts[language]).map(async ([path, file]) => ({
      path,
      content: Buffer.from(await readPackagedScript(file)),
    })),
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
