import { afterAll, describe, expect, it } from "vitest";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const scene = await openNetworkScene();
const { web, webAt } = scene;
afterAll(() => scene[Symbol.dispose]());

describe.each(engines)("the network of a session's calls on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { ...scene.settings, images: sessionImages } });
  const get = (request: Partial<RunCodeRequest> = {}): Promise<RunCodeResponse> =>
    glovebox().runCode({
      language: "python",
      code: getProgram,
      args: [`http://${webAt}/`],
      packages: [],
      timeout_seconds: 60,
      ...request,
    });

  it("is each call's own", async () => {
    const reached = { outcome: "completed", stdout: `hello from ${webAt}\n` };
    const first = await get({ network: [webAt] });
    expect(first).toMatchObject(reached);
    web.forget();
    expect((await get()).outcome).toBe("failed");
    const denied = await get({ network: ["other.test"] });
    expect(denied).toMatchObject({ outcome: "policy_denied", error: { error_type: "NETWORK_ERROR" } });
    expect(web.connections).toBe(0);
    const again = await get({ network: [webAt] });
    expect(again).toMatchObject({ ...reached, restarted: false });
    expect(again.container_id).toBe(first.container_id);
  });
});
