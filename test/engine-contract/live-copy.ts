import { once } from "node:events";
import { createServer } from "node:net";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { openPlace } from "../../src/sandbox/mounts/open-place.ts";
import { LiveCopy, type CopyProblem, type LiveCopyOptions } from "../../src/workloads/project/live-copy.ts";
import type { Container } from "../../src/engines/engine.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { until } from "../helpers/until.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

const needs = { capability: "programs", timeoutMs: 180_000 } as const;
const target = "/work/project";

interface CopyScene {
  /** Writes a file of the project. */
  readonly put: (name: string, text: string) => void;
  readonly at: (name: string) => string;
  readonly container: Container;
  readonly sh: (script: string) => Promise<string>;
  readonly problems: readonly CopyProblem[];
  readonly copy: LiveCopy;
}

/** A project with a live copy in a container. */
async function withCopy(
  scene: Scene,
  files: Readonly<Record<string, string>>,
  work: (copy: CopyScene) => Promise<void>,
  options: Partial<LiveCopyOptions> = {},
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-test-"));
  const at = (name: string): string => path.join(folder, name);
  const put = (name: string, text: string): void => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  try {
    for (const [name, text] of Object.entries(files)) put(name, text);
    const container = await scene.idle({ image: scene.subject.images.python });
    await using project = (await openPlace(folder, process.platform)) ?? expect.fail("The project was not opened.");
    const problems: CopyProblem[] = [];
    await using copy = await LiveCopy.open({
      ...{ project, includeIgnored: false, maxBytes: 8 * mebibyte, target, platform: process.platform },
      files: new SandboxFiles(container, scene.capabilities),
      monotonicMs: () => performance.now(),
      onProblem: (problem) => void problems.push(problem),
      signal: new AbortController().signal,
      ...options,
    });
    const sh = async (script: string): Promise<string> =>
      (await scene.run(container, ["sh", "-c", `cd ${target} && { ${script}; } 2>&1`])).stdout.toString();
    await work({ put, at, container, sh, problems, copy });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when the script prints the expected text. */
async function untilIs({ sh }: CopyScene, script: string, expected: string): Promise<void> {
  await until(async () => (await sh(script)) === expected);
}

const allFiles = "find . ! -type d | LC_ALL=C sort";

/** A copy of a project inside a container that follows what happens to the project. */
export const liveCopies: Topic = (behaviour) => {
  behaviour(
    "live-copy.follows",
    "changes to a project reach its copy: edits, editors' saves, moves, changes of kind, rules of what is left out",
    (scene) =>
      withCopy(
        scene,
        {
          ...{ ".gitignore": "dist/\n", "src/a.js": "1", "src/b.js": "1", "src/old/c.js": "1", "link-me": "1" },
          ...{ "node_modules/x/index.js": "1", "dist/out.js": "1", swap: "a file" },
        },
        async (copy) => {
          const { put, at, sh } = copy;
          expect(await sh(allFiles)).toBe("./.gitignore\n./link-me\n./src/a.js\n./src/b.js\n./src/old/c.js\n./swap\n");
          await sh("echo own >src/b.js; echo own >made; mkdir -p node_modules && echo own >node_modules/own");
          put("src/a.js", "2");
          await untilIs(copy, "cat src/a.js", "2");
          put("src/a.js.tmp", "3");
          renameSync(at("src/a.js.tmp"), at("src/a.js"));
          await untilIs(copy, "cat src/a.js; cd src && ls", "3a.js\nb.js\nold\n");
          renameSync(at("src/old"), at("src/new"));
          put("src/new/deep/er/d.js", "4");
          await untilIs(copy, "cat src/new/c.js src/new/deep/er/d.js; cd src && ls", "14a.js\nb.js\nnew\n");
          put("src/new/deep/er/d.js", "5");
          rmSync(at("swap"));
          put("swap/inside", "6");
          rmSync(at("link-me"));
          symlinkSync("src/a.js", at("link-me"));
          chmodSync(at("src/a.js"), 0o755);
          await untilIs(
            copy,
            "cat src/new/deep/er/d.js swap/inside; readlink link-me; [ -x src/a.js ] && echo x",
            "56src/a.js\nx\n",
          );
          rmSync(at("swap"), { recursive: true });
          put("swap", "a file");
          rmSync(at("src/new"), { recursive: true });
          put(".gitignore", "*.log\n");
          put("src/left.log", "1");
          await untilIs(copy, "cat swap dist/out.js; cd src && ls", "a file1a.js\nb.js\n");
          put(".gitignore", "dist/\n");
          await untilIs(copy, "cat src/left.log; [ -e dist ] || echo gone", "1gone\n");
          expect(await sh("cat src/b.js made node_modules/own; cd node_modules && ls")).toBe("own\nown\nown\nown\n");
          put("src/b.js", "6");
          await untilIs(copy, "cat src/b.js", "6");
          expect(copy.problems).toEqual([]);
          expect(readdirSync(at(".")).toSorted()).toEqual([
            ".gitignore",
            "dist",
            "link-me",
            "node_modules",
            "src",
            "swap",
          ]);
          expect(readFileSync(at("dist/out.js"), "utf8")).toBe("1");
        },
      ),
    needs,
  );

  behaviour(
    "live-copy.events",
    "programs that watch the copy see one change per file, and then the whole file",
    (scene) =>
      withCopy(scene, { "src/a.js": "1", "src/b.js": "1" }, async (copy) => {
        const watcher = await scene.exec(copy.container, fixtureProgram("watches-a-folder.py", `${target}/src`));
        await watcher.until("stdout", "watching\n");
        copy.put("src/a.js", "2".repeat(300_000));
        await watcher.until("stdout", "a.js");
        copy.put("src/b.js", "2");
        await watcher.until("stdout", "b.js");
        rmSync(copy.at("src/b.js"));
        await watcher.until("stdout", "deleted b.js");
        expect(watcher.text("stdout")).toBe("watching\nmoved in a.js\nmoved in b.js\ndeleted b.js\n");
        await watcher.process.kill("SIGKILL");
      }),
    needs,
  );

  behaviour(
    "live-copy.odd-files",
    "FIFOs, sockets and odd names hold nothing up, and files that grow while they are read are complete in the end",
    (scene) =>
      withCopy(scene, { a: "1", "new\nline/-rf": "1" }, async (copy) => {
        const { sh, at, put } = copy;
        expect(await sh("cat './new\nline/-rf'")).toBe("1");
        const server = createServer().listen(at("socket"));
        await once(server, "listening");
        put("new\nline/' $(echo x)", "2");
        await untilIs(copy, "cat './new\nline/'*x*", "2");
        for (let count = 0; count < 200; count += 1) {
          appendFileSync(at("grows"), "x".repeat(5_000));
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        await untilIs(copy, "wc -c <grows", "1000000\n");
        server.close();
        expect(copy.problems).toEqual([
          { kind: "left_out", message: 'Left out, neither a file, a folder nor a link: "socket".' },
        ]);
      }),
    needs,
  );

  behaviour(
    "live-copy.hostile",
    "a program that kills what brings the changes, and undoes them, only delays them, which is reported, or is ended at once",
    (scene) =>
      withCopy(scene, { a: "1" }, async (copy) => {
        const round = "rm -rf /work/.glovebox-update-*; kill -9 -1";
        const attack = `end=$(($(date +%s) + 30)); while [ "$(date +%s)" -lt "$end" ]; do ${round}; done 2>/dev/null`;
        const attacker = await scene.exec(copy.container, ["sh", "-c", attack]);
        // Where programs have the supervisor's user it also kills the process that watches over it, and is ended for that.
        let ended: unknown;
        void attacker.process.exit.catch((error: unknown) => (ended = error));
        let count = 0;
        await until(() => {
          copy.put("a", `${(count += 1)}`);
          return copy.problems.length > 0 || ended !== undefined;
        });
        if (scene.capabilities.supervisor !== "shared")
          expect(ended, "it reaches its own processes alone").toBeUndefined();
        if (copy.problems.length > 0) expect(copy.problems[0]).toMatchObject({ kind: "delayed" });
        if (ended !== undefined) expect(ended).toMatchObject({ errorType: "SANDBOX_LOST" });
        // It also kills what should kill it, and sometimes wins: then its time limit ends it.
        await attacker.process.kill("SIGKILL").catch((error: unknown) => {
          expect(error).toMatchObject({ errorType: "SANDBOX_LOST" });
          return ended === undefined ? attacker.process.exit : undefined;
        });
        await untilIs(copy, "cat a; cd /work && ls -A", `${count}project\n`);
      }),
    needs,
  );

  behaviour(
    "live-copy.too-large",
    "beyond its limit a copy stops following and says so, and its files are kept",
    (scene) =>
      withCopy(scene, { a: "1" }, async (copy) => {
        copy.put("big", "x".repeat(9 * mebibyte));
        await until(() => copy.problems.length > 0);
        expect(copy.problems).toMatchObject([{ kind: "stopped" }]);
        expect(copy.problems[0]?.message).toContain("more than 8 MiB");
        expect(await copy.sh("ls; cat a")).toBe("a\n1");
      }),
    needs,
  );
};
