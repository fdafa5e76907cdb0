import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

/** The host's variables while these tests run; none of the values may be visible inside. */
const marker = "glovebox-test-of-the-host";
const foreign = {
  USER: marker,
  LOGNAME: marker,
  SSH_AUTH_SOCK: `/run/${marker}/agent.sock`,
  AWS_SECRET_ACCESS_KEY: marker,
  // What the host itself needs still comes first.
  PATH: `${process.env["PATH"] ?? ""}:/opt/${marker}`,
};
const home = process.env["HOME"] ?? "";
const former = Object.fromEntries(Object.keys(foreign).map((name) => [name, process.env[name]]));

beforeAll(() => void Object.assign(process.env, foreign));
afterAll(() => {
  for (const [name, value] of Object.entries(former)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const shows = "import json, os\nprint(json.dumps(dict(os.environ)))";

function expectNothingForeign(output: string): void {
  const variables = JSON.parse(output) as Readonly<Record<string, string>>;
  for (const name of ["USER", "LOGNAME", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY"]) {
    expect(variables, name).not.toHaveProperty(name);
  }
  expect(output).not.toContain(marker);
  expect(variables["HOME"]).not.toBe(home);
}

describe.each(engines)("variables of the host do not reach programs on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("of one-shots: neither by name nor in HOME and PATH", async () => {
    const response = await glovebox().execute({ language: "python", code: shows });
    expectNothingForeign(response.stdout);
  });

  it("of sessions and their background processes", async () => {
    const response = await glovebox().runCode({ language: "python", code: shows, packages: [] });
    expectNothingForeign(response.stdout);
    const { processes } = glovebox();
    const { process_id } = await processes.start({ command: ["python3", "-c", shows] });
    const find = async () => (await processes.list({ process_id })).processes[0];
    await expect.poll(async () => (await find())?.state, { timeout: 10_000 }).toBe("exited");
    expectNothingForeign((await find())?.stdout?.text ?? "");
  });
});

describe.each(["docker", "podman"] as const)("variables of the host do not reach environments on %s", (engine) => {
  const glovebox = useGlovebox(engine);

  it("in commands", async () => {
    const { environments } = glovebox();
    const { env_id } = await environments.create({ image: testImages.python });
    try {
      const { stdout_tail } = await environments.runCommand({ env_id, command: ["python3", "-c", shows] });
      expectNothingForeign(stdout_tail);
    } finally {
      await environments.destroy({ env_id });
    }
  });
});
