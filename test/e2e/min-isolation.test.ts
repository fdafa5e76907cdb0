import { describe, expect, it } from "vitest";
import { createGlovebox } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

async function expectRefused(answer: Promise<unknown>): Promise<void> {
  expect(await answer.catch((error: unknown) => error)).toMatchObject({ errorType: "UNSUPPORTED" });
}

const program = { language: "python", code: "print('ran')" } as const;

describe.each(engines)("an isolation that %s cannot give", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("is refused when a one-shot or a call of a session asks for it, also in a session that is there", async () => {
    const vm = { min_isolation: "vm" } as const;
    await expectRefused(glovebox().execute({ ...program, ...vm }));
    await expectRefused(glovebox().runCode({ ...program, packages: [], ...vm }));
    const { session_id } = await glovebox().runCode({ ...program, packages: [] });
    await expectRefused(glovebox().runCode({ ...program, packages: [], session_id, ...vm }));
    const after = await glovebox().runCode({ ...program, packages: [], session_id });
    expect(after).toMatchObject({ stdout: "ran\n", restarted: false });
  });

  it("is refused when the operator demands it: programs, calls and environments", async () => {
    const settings = { images: sessionImages, min_isolation: "vm" } as const;
    const strict = await createGlovebox({ engine, settings });
    try {
      await expectRefused(strict.execute(program));
      await expectRefused(strict.runCode({ ...program, packages: [] }));
      await expectRefused(strict.environments.create({ image: testImages.python }));
    } finally {
      await strict.close();
    }
  });
});

describe.each(["docker", "podman"] as const)("an isolation that %s cannot give", (engine) => {
  const glovebox = useGlovebox(engine);

  it("is refused when an environment asks for it, and none is left", async () => {
    const { environments } = glovebox();
    await expectRefused(environments.create({ image: testImages.python, min_isolation: "vm" }));
    expect((await environments.list()).environments).toEqual([]);
  });
});
