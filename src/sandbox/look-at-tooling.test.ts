import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace, type OpenPlace } from "./mounts/open-place.ts";
import { compareTooling, gapSentences, type ToolingGap } from "../policy/tooling-changes.ts";
import { indexOf } from "../../test/helpers/git-index.ts";
import { lookAtTooling, type ToolingLook } from "./look-at-tooling.ts";

describe.skipIf(process.platform === "win32")("lookAtTooling", () => {
  let folder: string;
  let project: string;
  let place: OpenPlace;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "glovebox-tooling-"));
    project = path.join(folder, "project");
    mkdirSync(project);
    const opened = await openPlace(project, process.platform);
    if (opened === null) throw new Error("The project was not opened.");
    place = opened;
  });
  afterEach(async () => {
    await place[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const git = (cwd: string, ...command: string[]): void =>
    void execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...command],
      {
        cwd,
        stdio: "pipe",
      },
    );
  const put = (name: string, content: string | Uint8Array = "x"): void => {
    const file = path.join(project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  const look = async (...morePaths: string[]): Promise<ToolingLook> => {
    const seen = await lookAtTooling({ place, platform: process.platform, morePaths });
    if (seen === null) throw new Error("The project was not read.");
    return seen;
  };
  const changes = async (work: () => void, ...morePaths: string[]): Promise<readonly string[]> => {
    const before = await look(...morePaths);
    work();
    const after = await look(...morePaths);
    expect([before.isWhole, after.isWhole]).toEqual([true, true]);
    return compareTooling(before.snapshot, after.snapshot).map(({ path: name, change }) => `${change} ${name}`);
  };

  it("names what is new, changed and gone of the table, and nothing else", async () => {
    git(project, "init");
    put(".npmrc");
    put(".vscode/settings.json");
    put(".claude/hooks/a/b.sh");
    expect(await changes(() => undefined)).toEqual([]);
    const ordinary = [
      "package.json",
      "Makefile",
      "src/main.ts",
      ".github/workflows/ci.yml",
      "AGENTS.md",
      ".eslintrc.cjs",
    ];
    expect(await changes(() => ordinary.forEach((name) => put(name)))).toEqual([]);
    expect(
      await changes(() => {
        git(project, "config", "core.fsmonitor", "./evil");
        put(".git/hooks/post-checkout");
        put(".vscode/tasks.json");
        put(".claude/hooks/a/b.sh", "y");
        put(".envrc");
        rmSync(path.join(project, ".npmrc"));
      }),
    ).toEqual([
      "changed .claude/hooks/a/b.sh",
      "new .envrc",
      "changed .git/config",
      "new .git/hooks/post-checkout",
      "removed .npmrc",
      "new .vscode/tasks.json",
    ]);
  });

  it("names an exchanged git folder, one that stands in for another, and what leads to other configuration", async () => {
    git(project, "init");
    expect(
      await changes(() => {
        // In node_modules, which is not searched: only what git reads leads there.
        mkdirSync(path.join(project, "node_modules"));
        renameSync(path.join(project, ".git"), path.join(project, "node_modules/old"));
        mkdirSync(path.join(project, ".git"));
      }),
    ).toContain("changed .git");
    expect(
      await changes(() => {
        rmSync(path.join(project, ".git"), { recursive: true });
        writeFileSync(path.join(project, ".git"), "gitdir: node_modules/old\n");
      }),
    ).toContain("changed .git");
    expect(await changes(() => put("node_modules/old/config", "[core]\n"))).toEqual([
      "changed node_modules/old/config",
    ]);
    expect(await changes(() => put("node_modules/old/commondir", "../elsewhere\n"))).toEqual([
      "new node_modules/old/commondir",
    ]);
    expect(await changes(() => put("node_modules/elsewhere/config", "[core]\n\tfsmonitor = x\n"))).toEqual([
      "new node_modules/elsewhere/config",
    ]);
  });

  it("follows hooksPath and include.path within the project", async () => {
    git(project, "init");
    git(project, "config", "core.hooksPath", "tools/hooks");
    git(project, "config", "include.path", "../shared.gitconfig");
    git(project, "config", "--add", "include.path", "/etc/passwd");
    expect(await changes(() => put("tools/hooks/pre-commit"))).toEqual(["new tools/hooks/pre-commit"]);
    expect(await changes(() => put("shared.gitconfig"))).toEqual(["new shared.gitconfig"]);
  });

  it.each([2, 4])(
    "enters the repositories that version %i of git's index lists",
    { timeout: 30_000 },
    async (version) => {
      const other = path.join(folder, "other");
      mkdirSync(other);
      git(other, "init");
      git(other, "commit", "--allow-empty", "-m", "a");
      git(project, "init");
      for (const name of ["a/first", "a/second", "m", "z"]) put(name);
      git(project, "submodule", "add", other, "node_modules/sub");
      git(project, "add", ".");
      git(project, "update-index", "--index-version", String(version));
      expect(await changes(() => git(path.join(project, "node_modules/sub"), "config", "core.fsmonitor", "x"))).toEqual(
        ["changed .git/modules/node_modules/sub/config"],
      );
      expect(
        await changes(() => {
          rmSync(path.join(project, "node_modules/sub/.git"));
          put("node_modules/sub/.git/config", "[core]\n");
        }),
      ).toContain("new node_modules/sub/.git/config");
      expect(await changes(() => put("node_modules/sub/.git/config", "[core]\n\tfsmonitor = x\n"))).toEqual([
        "changed node_modules/sub/.git/config",
      ]);
    },
  );

  it.each([
    ["a bare repository at the top", ""],
    ["a bare repository below", "mirrors/x"],
  ])("looks at %s", async (_, where) => {
    const bare = path.join(project, where);
    mkdirSync(bare, { recursive: true });
    git(bare, "init", "--bare", ".");
    const inside = where === "" ? "" : `${where}/`;
    expect(await changes(() => git(bare, "config", "core.fsmonitor", "x"))).toEqual([`changed ${inside}config`]);
    expect(await changes(() => put(`${inside}hooks/post-checkout`))).toEqual([`new ${inside}hooks/post-checkout`]);
  });

  it("finds repositories that no index lists, but not in node_modules", async () => {
    git(project, "init");
    put("lib/plain/file");
    put("node_modules/x/index.js");
    expect(
      await changes(() => {
        git(path.join(project, "lib/plain"), "init");
        git(path.join(project, "lib/plain"), "config", "core.fsmonitor", "x");
        git(path.join(project, "node_modules/x"), "init");
      }),
    ).toContain("new lib/plain/.git/config");
    expect(await changes(() => put("lib/plain/.git/config", "[core]\n\tpager = x\n"))).toEqual([
      "changed lib/plain/.git/config",
    ]);
    expect(await changes(() => put("node_modules/x/.git/config", "[core]\n"))).toEqual([]);
  });

  it("reads the shared part of a split index", { timeout: 30_000 }, async () => {
    const other = path.join(folder, "other");
    mkdirSync(other);
    git(other, "init");
    git(other, "commit", "--allow-empty", "-m", "a");
    git(project, "init");
    git(project, "submodule", "add", other, "node_modules/sub");
    git(project, "add", ".");
    git(project, "update-index", "--split-index");
    put("later");
    git(project, "add", "later");
    expect(
      await changes(() => {
        rmSync(path.join(project, "node_modules/sub/.git"));
        put("node_modules/sub/.git/config", "[core]\n");
      }),
    ).toContain("new node_modules/sub/.git/config");
  });

  it.each<[string, string, () => void]>([
    [
      "a 65th repository of an index",
      "repositories",
      () => put(".git/index", indexOf(Array.from({ length: 65 }, (_, at) => `m${at}`))),
    ],
    ["an index that is too large", "large", () => truncateSync(path.join(project, ".git/index"), 17 * 1024 * 1024)],
    ["a configuration that is too large", "large", () => put(".git/config", "#".repeat(70_000))],
    ["an index of another form", "form", () => put(".git/index", "DIRC\0\0\0\u0009\0\0\0\0")],
    [
      "an index whose shared part is gone",
      "form",
      () => put(".git/index", indexOf(["m"], `link\0\0\0\u0014${"\u0007".repeat(20)}`)),
    ],
    ["a folder that is too deep", "many", () => put(`.vscode/${"d/".repeat(17)}x`)],
    [
      "more folders than are searched",
      "search",
      () => {
        for (let at = 0; at < 1_100; at += 1) mkdirSync(path.join(project, `f${at}`));
      },
    ],
  ])("says of %s that the look is not whole, and what to do", async (_, gap, cut) => {
    git(project, "init");
    put(".git/index", "");
    expect((await look()).gaps).toEqual([]);
    cut();
    expect(await look()).toMatchObject({ isWhole: false, gaps: [gap] });
    expect(gapSentences([gap as ToolingGap])).toEqual([expect.stringMatching(/What to do: /)]);
  });

  it.skipIf(process.platform !== "linux")("says of a file with a lease on it that the look is not whole", async () => {
    git(project, "init");
    // F_SETLEASE with F_WRLCK; it ignores the signal that asks it to give the lease back.
    const script = [
      "import fcntl, signal, sys",
      "signal.signal(signal.SIGIO, signal.SIG_IGN)",
      "f = open(sys.argv[1], 'r+')",
      "fcntl.fcntl(f, 1024, 1)",
      "print('held', flush=True)",
      "sys.stdin.read()",
    ].join("\n");
    const holder = spawn("/usr/bin/python3", ["-c", script, path.join(project, ".git/config")]);
    try {
      await once(holder.stdout, "data");
      expect(await look()).toMatchObject({ isWhole: false, gaps: ["held"] });
    } finally {
      holder.stdin.end();
      await once(holder, "close");
    }
    expect(await look()).toMatchObject({ isWhole: true });
  });

  it("adds the paths of the deployment", async () => {
    expect(await changes(() => put("tools/on-open/run.sh"), "tools/on-open")).toEqual(["new tools/on-open/run.sh"]);
  });

  it("follows no link and opens no FIFO, and names the link", async () => {
    git(project, "init");
    const outside = path.join(folder, "outside");
    mkdirSync(outside);
    rmSync(path.join(project, ".git/hooks"), { recursive: true });
    expect(
      await changes(() => {
        symlinkSync(outside, path.join(project, ".vscode"));
        symlinkSync(outside, path.join(project, ".git/hooks"));
        symlinkSync(outside, path.join(project, ".yarn"));
        rmSync(path.join(project, ".git/config"));
        execFileSync("mkfifo", [path.join(project, ".git/config"), path.join(project, ".git/index")]);
      }),
    ).toEqual(["changed .git/config", "new .git/hooks", "new .vscode", "new .yarn"]);
    expect(await changes(() => writeFileSync(path.join(outside, "secret-name"), ""))).toEqual([]);
  });

  it("takes a bounded part of what is too much, says so, and shows no control characters", async () => {
    for (let count = 0; count < 700; count += 1) put(`.vscode/${count}`);
    const before = await look();
    put(".idea/a\n\u202eb");
    const after = await look();
    expect(after.isWhole).toBe(false);
    expect(compareTooling(before.snapshot, after.snapshot)).toEqual([
      { path: ".idea/a\\u{a}\\u{202e}b", change: "new" },
    ]);
  });

  it("tells nothing when the project cannot be read any more", async () => {
    await place[Symbol.asyncDispose]();
    expect(await lookAtTooling({ place, platform: process.platform, morePaths: [] })).toBeNull();
    place = (await openPlace(project, process.platform)) as OpenPlace;
  });
});
