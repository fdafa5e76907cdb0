import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  truncateSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { tarOf } from "../../src/base/tar.ts";
import { agentEntrypoint, groupOwner, success } from "../helpers/agent-scene.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { runCommand } from "../helpers/run-command.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { clusterEnvironment } from "./cluster-environment.ts";
import { useCluster } from "./cluster-glovebox.ts";
import { imageOnNode } from "./node-image.ts";

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-agents-")));
const image = `glovebox-test/agent:${createId("image").replace("_", "-")}`;
let brought: AsyncDisposable | undefined;

beforeAll(() => {
  // Such a context makes no file executable.
  const dockerfile = `FROM ${testImages.python}\nCOPY entrypoint.sh /app/entrypoint.sh\nRUN chmod 755 /app/entrypoint.sh\n`;
  const files = { Dockerfile: dockerfile, "entrypoint.sh": agentEntrypoint };
  brought = imageOnNode(
    image,
    tarOf(Object.entries(files).map(([name, text]) => ({ path: name, content: Buffer.from(text) }))),
  );
}, 120_000);
afterAll(async () => {
  await brought?.[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** A project with a git repository, of an ordinary user where the tests are root. */
function project(): string {
  const folder = mkdtempSync(path.join(root, "project-"));
  execFileSync("git", ["init", "-q", folder]);
  mkdirSync(path.join(folder, "old"));
  writeFileSync(path.join(folder, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(path.join(folder, "a.txt"), "one\n");
  writeFileSync(path.join(folder, "old/gone.txt"), "gone\n");
  symlinkSync("/etc/hostname", path.join(folder, "out"));
  if (process.getuid?.() === 0) execFileSync("chown", ["-hR", `${groupOwner.uid}:${groupOwner.gid}`, folder]);
  chmodSync(folder, 0o755);
  return folder;
}

const directory = mkdtempSync(path.join(root, "agents-"));
for (const name of ["groups", "groups/family", "groups/global"]) mkdirSync(path.join(directory, name));
writeFileSync(path.join(directory, "groups/global/shared.md"), "of all groups\n");

describe("an agent on a cluster, which works on copies", { timeout: 120_000 }, () => {
  const glovebox = useCluster({
    settings: {
      project_roots: [root],
      agents: { directory, project: directory, main_workspace: path.join(directory, "nano"), image },
      tooling_files: "named",
    },
  });
  const run = (project_path: string, prompt: string) =>
    glovebox().runAgent({ project_path, agent: "claude", prompt: `${prompt}\n${success("done")}` });

  it("changes a folder as where it is mounted: made, changed and removed files come back, all else is left alone", async () => {
    const folder = project();
    const before = statSync(path.join(folder, ".git/config"));
    const script = `
pwd; id -u; cat a.txt; echo two >a.txt; mkdir -p new/deep; echo x >new/deep/run.sh; chmod 755 new/deep/run.sh
rm -r old; ln -s deep/run.sh new/link; ln a.txt second`;
    const answer = await run(folder, script);
    expect(answer).toMatchObject({ status: "success", result: "done", engine: "kubernetes", tooling_files: [] });
    expect(answer.output).toMatch(/^\/workspace\/group\n\d{10}\none\n$/);
    expect(readFileSync(path.join(folder, "a.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(path.join(folder, "second"), "utf8")).toBe("two\n");
    expect(statSync(path.join(folder, "new/deep/run.sh")).mode & 0o777).toBe(0o755);
    expect(readlinkSync(path.join(folder, "new/link"))).toBe("deep/run.sh");
    expect(readlinkSync(path.join(folder, "out"))).toBe("/etc/hostname");
    expect(existsSync(path.join(folder, "old"))).toBe(false);
    expect(statSync(path.join(folder, "new/deep")).uid).toBe(statSync(folder).uid);
    expect(statSync(path.join(folder, ".git/config"))).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino });
  });

  it("names what its owner's tools run, and brings no links that lead out, no devices and no setuid bits", async () => {
    const folder = project();
    const script = `
mkdir .vscode; echo '{}' >.vscode/tasks.json; ln -s /etc/passwd away; ln -s ../../up up; mkfifo pipe
echo x >run; chmod 6755 run && echo taken; chmod 755 run; rm -r old; ln -s / old; mkdir d; ln -s d/../../.. d/out`;
    const answer = await run(folder, script);
    expect(answer.tooling_files).toEqual([{ path: "/workspace/group/.vscode/tasks.json", change: "new" }]);
    for (const name of ["away", "up", "pipe", "old", "d/out"])
      expect(lstatSync(path.join(folder, name), { throwIfNoEntry: false })).toBeUndefined();
    expect(statSync(path.join(folder, "run")).mode & 0o7777).toBe(0o755);
    expect(answer.warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/links that lead out of what is copied: (?=.*"away")(?=.*"up")(?=.*"old")(?=.*"d\/out")/),
        expect.stringMatching(/neither a file, a folder nor a link: "pipe"/),
      ]),
    );
  });

  it("leaves what somebody changes here meanwhile, and says so", async () => {
    const folder = project();
    let isTold = false;
    const answer = await glovebox().runAgent(
      {
        ...{ project_path: folder, agent: "claude" },
        prompt: `touch started; echo ready; sleep 3; echo agent >a.txt; echo agent >mine; rm old/gone.txt\n${success("done")}`,
      },
      {
        onEvent: ({ type }) => {
          if (type !== "output" || isTold) return;
          isTold = true;
          appendFileSync(path.join(folder, "a.txt"), "owner\n");
          writeFileSync(path.join(folder, "mine"), "owner\n");
          appendFileSync(path.join(folder, "old/gone.txt"), "kept\n");
        },
      },
    );
    expect(readFileSync(path.join(folder, "a.txt"), "utf8")).toBe("one\nowner\n");
    expect(readFileSync(path.join(folder, "mine"), "utf8")).toBe("owner\n");
    expect(readFileSync(path.join(folder, "old/gone.txt"), "utf8")).toBe("gone\nkept\n");
    expect(existsSync(path.join(folder, "started"))).toBe(true);
    expect(answer.warnings.join()).toMatch(/changed on this machine while the agent worked: .*"a.txt"/);
  });

  it("works for a group, with its memory of earlier runs, what all groups share, and its variables", async () => {
    const group = (prompt: string) => glovebox().runAgent({ group: "family", prompt: `${prompt}\n${success("done")}` });
    const first = await group(
      "ls -d /workspace/*; cat /workspace/global/shared.md; stat -c %a /workspace/env-dir/env; echo x >/home/node/.pi/note; echo changed >/workspace/global/shared.md",
    );
    expect(first.output).toBe(
      "/workspace/env-dir\n/workspace/global\n/workspace/group\n/workspace/ipc\nof all groups\n600\n",
    );
    expect(readFileSync(path.join(directory, "groups/global/shared.md"), "utf8")).toBe("of all groups\n");
    expect(readFileSync(path.join(directory, "data/pi/family/.pi/note"), "utf8")).toBe("x\n");
    expect((await group("cat /home/node/.pi/note")).output).toBe("x\n");
    expect(readFileSync(path.join(directory, first.log), "utf8")).toContain("of all groups");
  });

  it("brings back what there is of one that was ended for its time", async () => {
    const folder = project();
    const late = await glovebox().runAgent({
      ...{ project_path: folder, agent: "claude", timeout_seconds: 4 },
      prompt: "echo begun >begun; trap '' TERM; while true; do sleep 1; done",
    });
    expect(late).toMatchObject({ outcome: "timed_out", error: { error_type: "TIMEOUT" } });
    expect(readFileSync(path.join(folder, "begun"), "utf8")).toBe("begun\n");
  });

  it("refuses a folder that does not fit before anything runs", async () => {
    const folder = project();
    writeFileSync(path.join(folder, "large"), "");
    truncateSync(path.join(folder, "large"), 3 * 1024 ** 3);
    const { message } = await failureOf(run(folder, "echo ran"), "POLICY_DENIED");
    expect(message).toMatch(/more to copy than/);
  });
});

describe("files that a project's owner has locked", { timeout: 120_000 }, () => {
  const home = mkdtempSync(path.join(root, "home-"));
  const environment = { ...clusterEnvironment(), HOME: home, XDG_STATE_HOME: path.join(home, "state") };

  it("stay as they are whatever the copy's agent does to them, by the command", async () => {
    const folder = project();
    const config = readFileSync(path.join(folder, ".git/config"), "utf8");
    const script = `
echo '[core] pager = evil' >>.git/config; echo evil >.git/hooks/pre-commit; echo evil >.git/hooks/post-checkout
echo ok >.git/description; echo made >made; ${success("done")}`;
    const words = ["agent", "claude", script, "--engine", "kubernetes", "--image", image];
    const done = await runCommand(words, { cwd: folder, environment });
    expect(done).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(readFileSync(path.join(folder, ".git/config"), "utf8")).toBe(config);
    expect(readFileSync(path.join(folder, ".git/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\n");
    expect(readFileSync(path.join(folder, "made"), "utf8")).toBe("made\n");
    expect(done.stderr).toMatch(/locked on this machine: .*"\.git\/config"/);
    // The whole folder made into something else.
    const replaced = `rm -rf .git; ln -s /tmp .git; rm a.txt; mkdir a.txt; echo x >a.txt/b; ${success("done")}`;
    await runCommand(["agent", "claude", replaced, "--engine", "kubernetes", "--image", image], {
      ...{ cwd: folder, environment },
    });
    expect(readFileSync(path.join(folder, ".git/config"), "utf8")).toBe(config);
    expect(readFileSync(path.join(folder, "a.txt/b"), "utf8")).toBe("x\n");
  });

  it("and over HTTP an agent of a group answers", async () => {
    const agents = { GLOVEBOX_AGENT_DIRECTORY: directory, GLOVEBOX_AGENT_IMAGE: image };
    await using served = await serveGlovebox({ ...environment, ...agents }, undefined, "kubernetes");
    const prompt = `echo working; echo http >http; ${success("it is done")}`;
    const { status, body } = await served.call("POST", "/api/agent/run", { group: "family", prompt });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ status: "success", result: "it is done", output: "working\n", engine: "kubernetes" }),
    ]);
    expect(readFileSync(path.join(directory, "groups/family/http"), "utf8")).toBe("http\n");
  });
});
