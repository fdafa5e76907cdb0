import { readPackagedScript } from "../../../base/packaged-script.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { checkMainFile } from "../../../policy/request/main-file.ts";
import { codeFolder } from "../../../policy/session-profile.ts";
import { encodeJob } from "../../program/runner-job.ts";
import type { SessionSandbox } from "../session-sandbox.ts";
import { KeptInterpreter } from "./kept-interpreter.ts";

const script = new URL("../../../../images/runners/python-interpreter.py", import.meta.url);

/** The interpreter of the sandbox, which is started as a program of Python when there is none. @throws what `exec` throws */
export async function startInterpreter(
  live: SessionSandbox,
  environment: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<KeptInterpreter> {
  if (live.interpreter !== null && !live.interpreter.isOver) return live.interpreter;
  const { sandbox, profile } = live;
  const main = checkMainFile(undefined, "python");
  const content = Buffer.from(await readPackagedScript(script));
  const process = await live.runner.take({ toolchain: "python", mainFile: main }, options);
  const job = encodeJob({
    main,
    arguments: [],
    environment,
    files: [{ path: main, content }],
    folder: sandbox.folderOf(codeFolder),
    workingDirectory: sandbox.folderOf(profile.workingDirectory),
    empties: true,
  });
  for (const piece of job) process.stdin.write(piece);
  live.interpreter = new KeptInterpreter(process);
  return live.interpreter;
}
