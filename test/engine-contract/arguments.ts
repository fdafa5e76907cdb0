import { expect, vi } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import type { FinishedProcess } from "../helpers/running-process.ts";

const odd = {
  newline: "line one\nline two\n",
  quotes: `"double" 'single' \`back\``,
  substitution: "$(echo x) ${HOME} $HOME %s \\n",
  equals: "a=b=c",
  unicode: "naïve 日本 👩‍💻",
  spaces: "  two  spaces  ",
  empty: "",
} as const;

/** Reads the environment without a shell, which would add its own variables. */
const printEnvironment = ["cat", "/proc/self/environ"];

function environmentOf({ stdout }: FinishedProcess): Readonly<Record<string, string>> {
  const lines = stdout.toString().split("\0").slice(0, -1);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** Arguments and environment reach a program as they were given, and nothing else does. */
export const programArguments: Topic = (behaviour) => {
  behaviour("arguments.literal", "arguments arrive literally, without a shell", async (scene) => {
    const container = await scene.shared();
    const parameters = [...Object.values(odd), "-n", "--", "-", "*", "~", ";exit 1", "&", "|", ">x", "#", "!"];
    const { stdout } = await scene.run(container, fixtureProgram("prints-arguments.sh", ...parameters));
    expect(stdout.toString().split("\0").slice(0, -1)).toEqual(parameters);
  });

  behaviour("arguments.main-literal", "arguments of a container's main command arrive literally", async (scene) => {
    const parameters = Object.values(odd);
    const { main } = await scene.main(fixtureProgram("prints-arguments.sh", ...parameters));
    expect((await main.finish()).stdout.toString().split("\0").slice(0, -1)).toEqual(parameters);
  });

  behaviour(
    "arguments.environment",
    "a program has the variables of the container and of its exec; the exec's take precedence",
    async (scene) => {
      const container = await scene.idle({ environment: { FIRST: "container", SECOND: "container" } });
      const finished = await scene.run(container, printEnvironment, { environment: { SECOND: "exec", THIRD: "exec" } });
      expect(environmentOf(finished)).toMatchObject({ FIRST: "container", SECOND: "exec", THIRD: "exec" });
      expect(environmentOf(await scene.run(container, printEnvironment))).toMatchObject({ SECOND: "container" });
    },
  );

  behaviour(
    "arguments.environment-over-image",
    "given variables override those of the engine and the image",
    async (scene) => {
      const container = await scene.idle({ environment: { HOME: "/tmp" } });
      expect(environmentOf(await scene.run(container, printEnvironment))).toMatchObject({ HOME: "/tmp" });
      const finished = await scene.run(container, printEnvironment, { environment: { HOME: "/work" } });
      expect(environmentOf(finished)).toMatchObject({ HOME: "/work" });
    },
  );

  behaviour("arguments.odd-environment", "odd values of variables arrive unchanged", async (scene) => {
    const container = await scene.idle({ environment: { FROM_CONTAINER_EMPTY: "", FROM_CONTAINER: odd.newline } });
    const finished = await scene.run(container, printEnvironment, { environment: odd });
    expect(environmentOf(finished)).toMatchObject({ FROM_CONTAINER_EMPTY: "", FROM_CONTAINER: odd.newline, ...odd });
  });

  behaviour(
    "arguments.main-environment",
    "a container's main command has the container's environment",
    async (scene) => {
      const { main } = await scene.main(printEnvironment, { environment: odd });
      expect(environmentOf(await main.finish())).toMatchObject(odd);
    },
  );

  behaviour("arguments.no-host-environment", "nothing of the host's environment is visible", async (scene) => {
    vi.stubEnv("GLOVEBOX_CONTRACT_SECRET", "host-secret");
    const engine = await scene.subject.make();
    try {
      const container = await engine.create(scene.spec({ environment: { GIVEN: "1" } }));
      await container.start();
      const environment = environmentOf(
        await scene.run(container, printEnvironment, { environment: { GIVEN_TOO: "1" } }),
      );
      expect(JSON.stringify(environment)).not.toContain("host-secret");
      const allowed = new Set(["GIVEN", "GIVEN_TOO", ...scene.subject.environmentNames]);
      expect(Object.keys(environment).filter((name) => !allowed.has(name))).toEqual([]);
      expect(environment).toMatchObject({ GIVEN: "1", GIVEN_TOO: "1" });
      await container.remove();
    } finally {
      vi.unstubAllEnvs();
      await engine.close();
    }
  });
};
