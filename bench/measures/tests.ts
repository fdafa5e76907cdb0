import { createGlovebox } from "../../src/index.ts";
import { byHand, runFile } from "../parts/baselines.ts";
import { byHandColumns, projectOf, rowsByHand } from "../parts/by-hand.ts";
import { timeInTurn } from "../parts/in-turn.ts";
import type { Measure } from "../parts/report.ts";
import { projectRows } from "./row-names.ts";

const testCommand = "node --test";

/** A project's tests, from the request to the verdict. */
export const testsMeasure: Measure = {
  name: "tests",
  title: "A project's tests",
  how: "A project with one test of Node's own runner, from the request to the verdict, compared with the same command by hand on the same engine: in a container of the same image with the project mounted, or in bubblewrap.",
  ...byHandColumns,
  take: async ({ isQuick, engines, images }) => {
    await using stack = new AsyncDisposableStack();
    const project = projectOf("a.test.js", 'require("node:test").test("passes", () => undefined);', stack);
    const glovebox = stack.use(await createGlovebox({ workingDirectory: project }));
    const image = images.javascript;
    const subjects = [
      ...engines.map((engine) => {
        const [file = "", ...argv] = byHand(engine, image, testCommand.split(" "), { project });
        return { name: projectRows.byHand(engine), run: () => runFile(file, argv) };
      }),
      ...engines.map((engine) => ({
        name: projectRows.glovebox(engine),
        run: async () => {
          const { outcome } = await glovebox.tests.run({
            ...{ projectPath: project, testCommand, engine },
            ...(engine === "local" ? {} : { image }),
          });
          if (outcome !== "completed") throw new Error(`The tests ended as ${outcome}.`);
        },
      })),
    ];
    const { timesMs, leftOut } = await timeInTurn(subjects, isQuick ? 2 : 20);
    return { rows: rowsByHand(timesMs, engines), leftOut };
  },
};
