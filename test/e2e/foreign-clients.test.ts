import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clientEnvironment, lackOfClients, programs, runProgram } from "../../scripts/foreign-clients.ts";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { skipOrFail } from "../helpers/require.ts";

const folder = process.env["GLOVEBOX_TEST_CLIENTS"] ?? "";
const lack = lackOfClients(folder);

describe("clients that were written for E2B, unmodified", () => {
  let server: KeyServer;
  let key: TestKey;
  beforeAll(async () => {
    if (lack !== null) return;
    server = await startKeyServer(["--engine", "local", "--e2b", "0"]);
    key = await server.addKey("clients");
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach((context) => {
    if (lack !== null) skipOrFail(context, "clients", lack);
  });

  it.for(programs.filter(({ refused }) => refused === undefined))(
    "$name runs as its users write it",
    async (program) => {
      const ended = await runProgram(folder, program, clientEnvironment(key.text, server.e2bUrl));
      expect(ended, ended.stderr).toMatchObject({ exitCode: 0, stdout: program.prints });
    },
  );

  it.for(programs.filter(({ refused }) => refused !== undefined))("$name is told what it lacks", async (program) => {
    const ended = await runProgram(folder, program, clientEnvironment(key.text, server.e2bUrl));
    expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr).toContain(program.refused?.error);
  });

  it("has no sandbox left when they ended", async () => {
    const response = await fetch(`${server.e2bUrl}/v2/sandboxes`, { headers: { "x-api-key": `e2b_${key.text}` } });
    expect(await response.json()).toEqual([]);
  });
});
