import { javascriptQuestions } from "../test/helpers/runners/javascript-questions.ts";
import { otherQuestions } from "../test/helpers/runners/other-questions.ts";
import { questions, type Question, type RunnerQuestion } from "../test/helpers/runners/question.ts";

const runnerQuestions = [...javascriptQuestions, ...otherQuestions];
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/tests.md with the answers of each runner, as the tests that ask them have them. */
export function withRunnerTables(text: string): string {
  const runners = [...new Set(runnerQuestions.map(({ runner }) => runner))];
  const names = Object.keys(questions) as readonly Question[];
  const sections = runners.map((runner) => {
    const rows = names.flatMap((question) => {
      const found = runnerQuestions.filter((each) => each.runner === runner && each.question === question);
      return found.length === 0 ? [] : [`| ${questions[question]} | ${answersOf(found)} |`];
    });
    return [`**${runner}**`, "", "| where | verdict |", "| --- | --- |", ...rows].join("\n");
  });
  return replaceMarked(text, "runner-tables", sections.join("\n\n"));
}

function answersOf(found: readonly RunnerQuestion[]): string {
  return [...new Set(found.map(({ verdict }) => `\`${verdict}\``))].join(", ");
}
