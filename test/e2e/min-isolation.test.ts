import { describe, expect, it } from "vitest";
import { createGlovebox } from "../../src/index.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

const program = { language: "python", code: "print('ran')" } as const;

describe.each(engines)("an isolation that %s cannot give", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("is refused when a one-shot or a call of a session asks for it, also in a session that is there", async () => {
    const vm = { min_isolation: "vm" } as const;
    await failureOf(glovebox().execute({ ...program, ...vm }), "UNSUPPORTED");
    await failureOf(glovebox().runCode({ ...program, packages: [], ...vm }), "UNSUPPORTED");
    const { session_id } = await glovebox().runCode({ ...program, packages: [] });
    await failureOf(glovebox().runCode({ ...program, packages: [], session_id, ...vm }), "UNSUPPORTED");
    const after = await glovebox().runCode({ ...program, packages: [], session_id });
    expect(after).toMatchObject({ stdout: "ran\n", restarted: false });
  });

  it("is refused when the operator demands it: programs, calls and environments", async () => {
    const settings = { images: sessionImages, min_isolation: "vm" } as const;
    const strict = await createGlovebox({ engine, settings });
    try {
      await failureOf(strict.execute(program), "UNSUPPORTED");
      await failureOf(strict.runCode({ ...program, packages: [] }), "UNSUPPORTED");
      await failureOf(strict.environments.create({ image: testImages.python }), "UNSUPPORTED");
    } finally {
      await strict.close();
    }
  });
});

describe.each(["docker", "podman"] as const)("an isolation that %s cannot give", (engine) => {
  const glovebox = useGlovebox(engine);

  it("is refused when an environment asks for it, and none is left", async () => {
    const { environments } = glovebox();
    await failureOf(environments.create({ image: testImages.python, min_isolation: "vm" }), "UNSUPPORTED");
    expect((await environments.list()).environments).toEqual([]);
  });
});
