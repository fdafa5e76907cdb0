import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect } from "vitest";
import type { RunTestsRequest } from "../../src/operations/tests-contract.ts";
import { useGlovebox, type TestedEngine } from "./open-glovebox.ts";
import { javascriptQuestions } from "./runners/javascript-questions.ts";
import { otherQuestions } from "./runners/other-questions.ts";
import { questions, type RunnerQuestion } from "./runners/question.ts";
import { sessionImages } from "./test-images.ts";

const runnerQuestions: readonly RunnerQuestion[] = [...javascriptQuestions, ...otherQuestions];

/** Questions of one runner, with a name for each. */
export function questionsOf(runner: string): readonly (readonly [string, RunnerQuestion])[] {
  return runnerQuestions
    .filter((each) => each.runner === runner)
    .map((each, index) => [`${runner}: ${questions[each.question]} (${index + 1})`, each]);
}

/** Asks a runner in a sandbox; the project is its files alone. */
export function useRunners(engine: TestedEngine) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-questions-")));
  afterAll(() => rmSync(folder, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory: folder, settings: { images: sessionImages } });
  let count = 0;
  return async (asked: RunnerQuestion, more: Partial<RunTestsRequest> = {}): Promise<void> => {
    const project = path.join(folder, `project-${(count += 1)}`);
    for (const [name, text] of Object.entries({ "README.md": "", ...asked.files })) {
      mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
      writeFileSync(path.join(project, name), text);
    }
    const request = { project_path: project, test_command: asked.command, setup_command: "", ...more };
    const response = await glovebox().test(request);
    const { verdict, passed, reason } = response;
    expect({ verdict, passed }, `${reason}\n${response.output}`).toEqual({
      verdict: asked.verdict,
      passed: asked.passed,
    });
  };
}
