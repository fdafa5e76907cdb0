import { describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { openSessionContract, runCodeContract } from "../../src/operations/session-contract.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const home = "/home/user";
const asks = "import os\nprint(os.getcwd(), os.environ['HOME'], os.path.exists('/work'), sorted(os.listdir('.')))";

describe.each(places)("a session with a home of its own on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);

  it("has its programs, its files and its variables there", async () => {
    const opened = await glovebox().openSession({ home, keep_variables: true, ...runtime });
    const { session_id } = opened;
    expect(opened.home).toBe(home);
    const call = { session_id, language: "python" as const, packages: [] };
    await glovebox().writeFile({ session_id, path: "notes/a.txt", content: "a" });
    expect(await glovebox().listFiles({ session_id })).toMatchObject({ files: [{ path: "notes" }] });
    expect((await glovebox().runCode({ ...call, code: asks })).stdout).toBe(`${home} ${home} False ['notes']\n`);
    const started = await glovebox().processes.start({ session_id, command: ["sh", "-c", "pwd >where; sleep 100"] });
    const where = await glovebox().runCode({
      ...call,
      code: "import time\nwhile not os.path.exists('where') or not open('where').read(): time.sleep(0.05)\nprint(open('where').read(), end='')",
    });
    expect(where.stdout).toBe(`${home}\n`);
    await glovebox().processes.stop({ session_id, process_id: started.process_id });
    await glovebox().endSession({ session_id });
  });

  it("keeps its files when it is stopped to make room", async () => {
    const { config, host } = await loadHostConfig({ settings: { images: sessionImages } });
    const platform = await createPlatform({ config, host, door: "person", defaultEngine: engine });
    const owner = { principal: "one" };
    try {
      const { session_id } = await platform.call(openSessionContract, { home, ...runtime }, owner);
      const call = { session_id, language: "python" as const, packages: [] };
      await platform.call(runCodeContract, { ...call, code: "open('kept', 'w').write('x')" }, owner);
      await platform.sessions.find(session_id, owner)?.stop();
      expect(platform.sandboxes.live).toEqual([]);
      const again = await platform.call(runCodeContract, { ...call, code: asks }, owner);
      expect(again.stdout).toBe(`${home} ${home} False ['kept']\n`);
      expect(again.warnings.join()).toContain("the same files in /home/user");
    } finally {
      await platform.close();
    }
  });
});

describe("a home of a session", () => {
  const glovebox = useGlovebox("local");

  it.each([
    ...["/", "/etc", "/usr/home", "/proc/self", "/home", "/home/", "/home/..", "/home/a/b", "/home/A", "/home/user\n"],
    ...["home/user", "~", "", "/workspace/../etc", "/workspaces", `/home/${"a".repeat(33)}`, "/home/us\0er"],
  ])("is not %j, where the system or Glovebox has files", async (refused) => {
    const error = await failureOf(glovebox().openSession({ home: refused }), "INVALID_REQUEST");
    expect(error.message).toContain("home");
  });

  it("may be /workspace, and one that this machine has too stays empty", async () => {
    const { session_id } = await glovebox().openSession({ home: "/workspace" });
    const ran = await glovebox().runCode({ session_id, language: "python", packages: [], code: asks });
    expect(ran.stdout).toBe("/workspace /workspace False []\n");
  });
});
