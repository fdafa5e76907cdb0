import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runTestsContract, type RunTestsRequest, type RunTestsResponse } from "../../src/operations/tests-contract.ts";
import { startPreviewContract, stopPreviewContract } from "../../src/operations/previews-contract.ts";
import { startPreviewHandler, stopPreviewHandler } from "../../src/operations/previews-handler.ts";
import { runTestsHandler } from "../../src/operations/tests-handler.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { createId } from "../../src/base/id.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { git } from "../helpers/git.ts";
import { useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

type Files = Readonly<Record<string, string>>;

const passes = { "p.test.js": 'require("node:test").test("p", () => {});' };
/** A test that checks a path of the image and a variable. */
const looks = (code: string): Files => ({
  "p.test.js": `require("node:test").test("p", () => { const { ok, equal } = require("node:assert"); const fs = require("node:fs"); ${code} });`,
});

/** New projects, a principal for whom nothing is kept, and a deployment that builds their Dockerfiles. */
function useBuilds(engine: TestedEngine, more: object = {}) {
  useGlovebox(engine);
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-dockerfile-")));
  const ann = createId("ann");
  let platform: Platform;
  beforeAll(async () => {
    const { config, host } = await loadHostConfig({
      settings: { images: sessionImages, build_dockerfiles: true, ...more },
    });
    platform = await createPlatform({
      config,
      host: { ...host, workingDirectory: folder },
      door: "person",
      defaultEngine: engine,
    });
    return () => platform.close();
  });
  const built = new Set<string>();
  afterAll(async () => {
    for (const image of built) await (await platform.chooseEngine(engine)).engine.images.remove(image);
    rmSync(folder, { recursive: true });
  });
  let count = 0;
  const project = (files: Files): string => {
    const place = path.join(folder, `project-${(count += 1)}`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
      writeFileSync(path.join(place, name), text);
    }
    return place;
  };
  const test = async (
    place: string,
    request: Partial<RunTestsRequest> = {},
    principal: string = ann,
  ): Promise<RunTestsResponse> => {
    const asked = { project_path: place, test_command: "node --test", setup_command: "", dockerfile: true, ...request };
    const response = await runTestsHandler.run(platform, parseRequest(runTestsContract, asked), { principal });
    if (response.image?.startsWith("sha256:") === true) built.add(response.image);
    return response;
  };
  /** What a preview's page shows that is served from the image of a project's Dockerfile. */
  const shows = async (files: Files, command: string): Promise<string> => {
    const asked = { project_path: project(files), command, setup_command: "", dockerfile: true, wait_seconds: 120 };
    const call = { principal: ann };
    const started = await startPreviewHandler.run(platform, parseRequest(startPreviewContract, asked), call);
    if (started.image?.startsWith("sha256:") === true) built.add(started.image);
    try {
      return await (await fetch(started.direct_url ?? "")).text();
    } finally {
      await stopPreviewHandler.run(platform, parseRequest(stopPreviewContract, { id: started.container_id }), call);
    }
  };
  const run = (files: Files, request?: Partial<RunTestsRequest>): Promise<RunTestsResponse> =>
    test(project(files), request);
  return { project, test, run, shows };
}

const base = `FROM ${testImages.javascript}`;

describe.each(["docker", "podman"] as const)("the Dockerfile of a project on %s", { timeout: 300_000 }, (engine) => {
  const { project, run, test, shows } = useBuilds(engine);

  it("makes the image that its tests run in, once for the same files, and what .dockerignore names is not in it", async () => {
    const dockerfile = [
      "# syntax=example.invalid/frontend:1",
      `ARG BASE=${testImages.javascript}`,
      "FROM $BASE AS tests",
      "ARG WORD=two",
      'ENV FIRST="one $WORD" PATH=/opt/own/bin:$PATH',
      "WORKDIR /opt/own",
      "COPY --chown=1000:1000 lib *.txt ./",
      "RUN mkdir bin \\",
      "    # in between",
      "    && printf '#!/bin/sh\\necho found\\n' >bin/own-tool && chmod 755 bin/own-tool",
      'RUN id -u >built-by && echo "$WORD" >word && chmod 777 .',
      "USER node",
      'RUN ["sh", "-c", "id -u >built-by-other"]',
      'CMD ["node"]',
    ];
    const checks = [
      'equal(process.env.FIRST, "one two");',
      'equal(fs.readFileSync("/opt/own/inner/a", "utf8"), "a");',
      'equal(fs.statSync("/opt/own/b.txt").uid, 1000);',
      'ok(!fs.existsSync("/opt/own/c.txt"));',
      'equal(fs.readFileSync("/opt/own/built-by", "utf8"), "0\\n");',
      'equal(fs.readFileSync("/opt/own/built-by-other", "utf8"), "1000\\n");',
      'equal(fs.readFileSync("/opt/own/word", "utf8"), "two\\n");',
      'ok(!fs.existsSync("/.glovebox-context"));',
      'equal(require("node:child_process").execFileSync("own-tool", { encoding: "utf8" }), "found\\n");',
    ];
    const place = project({
      ...{ Dockerfile: dockerfile.join("\r\n"), ".dockerignore": "*.txt\n!b.txt\n", ...looks(checks.join("\n")) },
      ...{ "lib/inner/a": "a", "b.txt": "b", "c.txt": "c" },
    });
    const first = await test(place);
    expect(first, `${first.reason}\n${first.output}`).toMatchObject({ verdict: "passed", passed: 1 });
    // Files that COPY does not name have no influence.
    writeFileSync(path.join(place, "other"), "new");
    expect(await test(place)).toMatchObject({ verdict: "passed", image: first.image });
    // Neither another principal's image, nor one with other files.
    const others = await test(place, {}, createId("bob"));
    writeFileSync(path.join(place, "b.txt"), "B");
    const newer = await test(place);
    expect([others.verdict, newer.verdict]).toEqual(["passed", "passed"]);
    expect(new Set([first.image, others.image, newer.image]).size).toBe(3);
    // What was made for one is an image to nobody, under any name: neither in a request nor in a project's files.
    const retagged = `localhost/glovebox-test/retagged:${createId("image").replace("_", "-")}`;
    execFileSync(engine, ["tag", others.image ?? "", retagged]);
    try {
      for (const image of [others.image ?? "", retagged]) {
        const derived = { ...passes, Dockerfile: `FROM ${image}\n`, ".devcontainer.json": JSON.stringify({ image }) };
        for (const asked of [{}, { dockerfile: false }, { dockerfile: false, image }]) {
          const error = await failureOf(run(derived, asked), "POLICY_DENIED");
          expect(error.context).toMatchObject({ rule: "prepared-images" });
        }
      }
    } finally {
      execFileSync(engine, ["rmi", retagged]);
    }
  });

  it("has the image of a preview, too", async () => {
    const serve = 'http.createServer((_, answer) => answer.end(fs.readFileSync("/opt/page"))).listen(process.env.PORT)';
    const files = { Dockerfile: `${base}\nRUN echo "from the image" >/opt/page\n` };
    expect(await shows(files, `node -e '${serve}'`)).toBe("from the image\n");
  });

  it("that is broken says where, with the last words of what failed", async () => {
    const { verdict, reason, error, passed } = await run({
      ...passes,
      Dockerfile: `${base}\nRUN true\nRUN for n in 1 2 3; do echo "word $n"; done; exit 7\n`,
    });
    expect({ verdict, passed }).toEqual({ verdict: "could_not_run", passed: null });
    expect(reason).toMatch(/line 3 \(RUN for n.*ended with exit code 7\.$/);
    expect(error?.message).toBe(`${reason}\nword 1\nword 2\nword 3`);
  });
});

describe.each(["docker"] as const)("a hostile Dockerfile on %s", (engine) => {
  const { project, run, test } = useBuilds(engine);
  const at = (dockerfile: string, more: Partial<RunTestsRequest> = {}): Promise<RunTestsResponse> =>
    run({ ...passes, Dockerfile: dockerfile }, more);

  it.each([
    ["a RUN that never ends", "RUN sleep 1000", { timeout_seconds: 4 }, /took more than 4 s/],
    [
      "a RUN that fills the disk",
      "RUN head -c 300000000 /dev/zero >/fill; sleep 60; exit 3",
      { limits: { disk_mb: 64 } },
      /more than the disk limit/,
    ],
    ["a fork bomb", `RUN sh -c 'f() { f | f & }; f; wait'; sleep 1; exit 3`, { limits: { pids: 64 } }, /line 2/],
    ["a look at other users' secrets", "RUN cat /etc/shadow; cat /proc/1/environ; exit 5", {}, /exit code 5/],
  ])("is ended, or fails, with %s", async (_, line, limits, reason) => {
    const response = await at(`${base}\n${line}\n`, limits);
    expect(response.verdict).toBe("could_not_run");
    expect(response.reason).toMatch(reason);
  });

  it("reaches nothing but what the tests' network allows", async () => {
    const fetches = `fetch("http://169.254.169.254/").then((a) => process.exit(a.status === 200 ? 9 : 0), () => process.exit(0))`;
    const direct = `require("node:net").connect(80, "172.17.0.1").on("error", () => process.exit(0)).on("connect", () => process.exit(9))`;
    const response = await at(`${base}\nRUN node -e '${fetches}'\nRUN node -e '${direct}'\n`);
    expect(response, response.reason).toMatchObject({ verdict: "passed" });
  });

  it("holds no capability that a setup does not have, and cannot mount or trace", async () => {
    const words = await at(
      `${base}\nRUN grep CapEff /proc/self/status; mount -t tmpfs x /mnt && echo MOUNT''ED; exit 5\n`,
    );
    expect(words.error?.message).not.toContain("MOUNTED");
    // CHOWN, DAC_OVERRIDE, FOWNER, SETGID, SETUID.
    expect(words.error?.message).toMatch(/CapEff:\s*00000000000000cb/);
  });

  it("gets no link's target, and no file that is ignored or out of the project", async () => {
    const place = project({
      ...passes,
      Dockerfile: `${base}\nCOPY . /all/\nRUN cat /all/out/passwd /all/secret; exit 5\n`,
      ".gitignore": "secret",
      secret: "SECRET",
    });
    symlinkSync("/etc", path.join(place, "out"));
    symlinkSync("../..", path.join(place, "up"));
    const { reason } = await test(place);
    expect(reason).toMatch(/exit code 5/);
    expect(reason).not.toContain("SECRET");
    expect(reason).not.toContain(os.userInfo().homedir === "/root" ? "glovebox-dockerfile-" : os.userInfo().username);
  });

  it("gets what git tracks though .gitignore names it, as the tests' copy does", async () => {
    const code =
      'for (const at of ["/all", "."]) equal(fs.readFileSync(at + "/build/tracked", "utf8"), "tracked"); equal(fs.existsSync("/all/build/made"), false);';
    const place = project({
      ...looks(code),
      Dockerfile: `${base}\nCOPY . /all/\n`,
      ".gitignore": "build/",
      "build/tracked": "tracked",
    });
    git(place, "init", "--quiet");
    git(place, "add", "--force", "build/tracked");
    writeFileSync(path.join(place, "build/made"), "");
    const response = await test(place);
    expect(response, response.reason).toMatchObject({ verdict: "passed" });
    expect(response.warnings.join(" ")).not.toMatch(/Left out/);
  });

  it("with a context that is larger than the disk limit is refused before anything is sent", async () => {
    const place = project({ ...passes, Dockerfile: `${base}\nCOPY large /large\n`, large: "" });
    truncateSync(path.join(place, "large"), 3 * 1024 ** 3);
    const error = await failureOf(test(place), "POLICY_DENIED");
    expect(error.message).toMatch(/more to copy than/);
  });

  it("that is a link or a pipe is not read", async () => {
    const linked = project({ ...passes, real: base });
    symlinkSync("real", path.join(linked, "Dockerfile"));
    await failureOf(test(linked), "INVALID_REQUEST");
    const piped = project(passes);
    execFileSync("mkfifo", [path.join(piped, "Dockerfile")]);
    await failureOf(test(piped), "INVALID_REQUEST");
  });
});

describe("a Dockerfile is not built", () => {
  const { run } = useBuilds("local");
  const refused = useBuilds("docker", { build_dockerfiles: false });
  const prebuilt = useBuilds("docker", { prebuilt_only: true });

  it("by an engine without images, without the deployment, with prebuilt_only, or beside an image", async () => {
    const files = { ...passes, Dockerfile: base };
    expect((await failureOf(run(files), "UNSUPPORTED")).message).toMatch(/local cannot build/);
    expect((await failureOf(refused.run(files), "POLICY_DENIED")).message).toMatch(/build_dockerfiles/);
    expect((await failureOf(prebuilt.run(files), "POLICY_DENIED")).message).toMatch(/prebuilt_only/);
    await failureOf(refused.run(files, { image: testImages.javascript }), "INVALID_REQUEST");
  });

  it("unless the request asks for it", async () => {
    const files = { ...passes, Dockerfile: "FROM example.invalid/never:1\nRUN false" };
    expect(await refused.run(files, { dockerfile: false })).toMatchObject({ verdict: "passed" });
  });
});
