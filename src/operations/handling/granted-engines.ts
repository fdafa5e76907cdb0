import type { ChosenEngine } from "../../engines/choice/discover.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { grantRefused } from "../../policy/grants/grant-refused.ts";
import type { EngineChooser, EngineNeeds } from "./engine-chooser.ts";

type Choose = (name: string | undefined, needs?: EngineNeeds) => Promise<ChosenEngine>;

/** Chooses among the engines that a grant names; a call that names none gets the first of them that answers. */
export function grantedEngines(
  chooser: Pick<EngineChooser, "chooseEngine" | "chooseSessionEngine">,
  granted: readonly string[],
): Pick<EngineChooser, "chooseEngine" | "chooseSessionEngine"> {
  const refuse = (value: string): GloveboxError =>
    grantRefused({ field: "engine", value, rule: "engines", allowed: granted });
  const within =
    (choose: Choose): Choose =>
    async (name, needs) => {
      if (name !== undefined && name !== "auto") {
        if (!granted.includes(name)) throw refuse(name);
        return choose(name, needs);
      }
      const usual = await choose(name, needs).catch((error: unknown) => error);
      if (isChosen(usual) && granted.includes(usual.engine.name)) return usual;
      let problem: unknown = isChosen(usual) ? refuse(usual.engine.name) : usual;
      for (const each of granted) {
        try {
          return await choose(each, needs);
        } catch (error) {
          problem = error;
        }
      }
      throw problem;
    };
  return {
    chooseEngine: within((name, needs) => chooser.chooseEngine(name, needs)),
    chooseSessionEngine: within((name, needs) => chooser.chooseSessionEngine(name, needs)),
  };
}

function isChosen(value: unknown): value is ChosenEngine {
  return typeof value === "object" && value !== null && "engine" in value;
}
