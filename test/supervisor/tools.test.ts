import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolPaths } from "../../src/e2b/envd/file-entries.ts";
import { supervisorPath as localPath } from "../../src/engines/local/bubblewrap/bwrap-arguments.ts";
import { supervisorPath } from "../../src/engines/supervised/supervisor-binary.ts";
import { sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const tool = "/tmp/tool";
/** Largest number of folders that are watched, and levels of them. */
const maxWatched = 1024;
const maxLevels = 64;

describe.skipIf(reason !== undefined)(`tools that programs run ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(async () => {
    const binary = sanitizedSupervisor();
    subject = await Supervised.start({ binary, mounts: ["--ro-bind", binary, tool] });
  }, 180_000);
  afterAll(async () => subject[Symbol.asyncDispose]());

  /** What a script prints, and its exit code; `t` is the tool, and it starts in a new folder. */
  const sh = async (script: string): Promise<{ readonly code: number; readonly stdout: string }> => {
    const begin = `t=${tool}; cd $(mktemp -d)`;
    const { code, stdout, stderr } = await subject.run({ command: ["sh", "-c", `${begin}\n${script}`] });
    // Where both sanitizers find something, they say it here.
    expect(stderr.replace(/^supervisor: .*\n/gm, "")).toBe("");
    return { code, stdout };
  };

  it("are all that the program does beside being pid 1", async () => {
    expect(await sh("$t; echo $?; $t nothing; echo $?; $t watch; echo $?; $t attributes user. a b; echo $?")).toEqual({
      ...{ code: 0, stdout: "71\n2\n2\n2\n" },
    });
  });

  it("are looked for where engines put them", () => {
    expect(toolPaths).toEqual([supervisorPath, localPath]);
  });

  describe("for attributes of files", () => {
    it("set, show and lose them with their file", async () => {
      const { stdout } = await sh(`
        echo x > a; ln -s a link; mkdir folder
        $t set-attributes user.e2b. a author mish 'b c' ''; $t attributes user.e2b. a; echo
        $t attributes user.e2b. link; echo; $t attributes user.other. a; echo
        $t set-attributes user.e2b. folder a b; $t attributes user.e2b. folder; echo
        $t attributes user. missing; echo $?; $t set-attributes user.e2b. /proc/self/comm a b; echo $?`);
      expect(stdout.split("\n").map((line) => line.split("&").toSorted().join("&"))).toEqual([
        ...["author=mish&b%20c=", "author=mish&b%20c=", "", "a=b", "3", "4", ""],
      ]);
    });

    it("tell no byte of a value that looks like the next attribute", async () => {
      const value = String.raw`x&y=z%00\n$(id)<é`;
      const { stdout } = await sh(`echo x > a; $t set-attributes user.e2b. a k '${value}'; $t attributes user.e2b. a`);
      expect(stdout).toMatch(/^k=[\w.%-]+$/);
      expect(decodeURIComponent(stdout.slice(2))).toBe(value);
    });

    it("set all or none, and end with what is wrong when there is no room", async () => {
      const long = "n".repeat(250);
      const { stdout } = await sh(`
        echo x > a
        $t set-attributes user.e2b. a one 1 ${long} 2; echo $?; $t attributes user.e2b. a; echo
        $t set-attributes user.e2b. a one 1 two "$(head -c 70000 /dev/zero | tr '\\0' x)"; echo $?; $t attributes user.e2b. a`);
      expect(stdout).toBe("5\n\n5\n");
    });

    it("are told within bounds, and wait for no pipe", async () => {
      const { stdout } = await sh(`
        mkfifo fifo; timeout 5 $t attributes user.e2b. fifo; echo "$?"; echo x > a
        for i in 1 2 3 4; do $t set-attributes user.e2b. a k$i "$(head -c 1500 /dev/zero | tr '\\0' x)" || echo no; done
        $t attributes user.e2b. a | wc -c`);
      expect(stdout).toMatch(/^0\n\d+\n$/);
      const told = Number(stdout.split("\n")[1]);
      expect(told).toBeGreaterThan(3000);
      expect(told).toBeLessThanOrEqual(4200);
    });
  });

  describe("for watching folders", () => {
    /** What is told while a script runs beside it; it is asked once the script has ended. */
    const watched = async (kind: string, script: string, before = ""): Promise<readonly string[]> => {
      const { stdout } = await sh(`
        mkdir w; mkfifo in; ${before}
        $t ${kind} w <in >told & exec 3>in
        until [ -s told ]; do sleep 0.01; done
        (cd w; ${script}); echo >&3
        until tail -c 2 told | grep -q =; do sleep 0.01; done
        exec 3>&-; wait $!; echo "$?" >>told; cat told`);
      return stdout.split("\0");
    };

    it("tell what is made, written, changed, renamed and removed, in order", async () => {
      const told = await watched("watch", "echo 1 > a; chmod 600 a; mv a b; rm b; mkdir sub; echo 2 > sub/c");
      expect(told).toEqual(["S", "Ca", "Wa", "Ma", "Na", "Cb", "Db", "Csub", "=", "0\n"]);
    });

    it("follow folders that are made, moved and removed, with what is in them already", async () => {
      // What is moved or removed before it was seen cannot be told of.
      const seen = (name: string): string => `until grep -qa ${name} ../told; do sleep 0.01; done`;
      const told = await watched(
        "watch-tree",
        `mkdir -p n/m; echo 1 > n/m/f; ${seen("Cn/m/f")}; mv n old/n; echo 2 > old/n/m/g; ${seen("Cold/n/m/g")}; rm -r old`,
        "mkdir w/old",
      );
      for (const each of ["Cn", "Cn/m", "Cn/m/f", "Nn", "Cold/n", "Cold/n/m/f", "Cold/n/m/g", "Dold/n", "Dold"]) {
        expect(told).toContain(each);
      }
      expect(told.at(-1)).toBe("0\n");
    });

    it("tell a file that the host writes as made and written, under its own name only", async () => {
      const place = (number: string, name: string): string =>
        `echo x > .glovebox-${number}; mv .glovebox-${number} ${name}`;
      const told = await watched("watch", `${place("new-1", "a")}; ${place("2", "a")}; echo x > '#12'`);
      expect(told).toEqual(["S", "Ca", "Ma", "Wa", "Wa", "C#12", "W#12", "=", "0\n"]);
    });

    it("lead out by no link, and split no name", async () => {
      const told = await watched(
        "watch-tree",
        "echo 1 > out/secret; ln -s ../elsewhere again; echo 2 > again/secret; echo > \"$(printf 'a\\nCb')\"",
        "mkdir elsewhere; ln -s ../elsewhere w/out",
      );
      expect(told).toEqual(["S", "Cagain", "Ca\nCb", "Wa\nCb", "=", "0\n"]);
    });

    it("end where there are more folders or levels than they watch", async () => {
      const { stdout } = await sh(`
        mkdir many deep; i=0; while [ $i -lt ${maxWatched} ]; do mkdir many/$i; i=$((i+1)); done
        p=deep; i=0; while [ $i -lt ${maxLevels} ]; do p=$p/d; i=$((i+1)); done; mkdir -p $p
        for f in many deep; do $t watch-tree $f </dev/null >/dev/null; echo $?; $t watch $f </dev/null >/dev/null; echo $?; done
        rmdir many/0; $t watch-tree many </dev/null >/dev/null; echo $?`);
      expect(stdout).toBe("5\n0\n5\n0\n0\n");
    });

    it("end where more happens than is read, and where there is no folder", async () => {
      const { stdout } = await sh(`
        mkdir w; mkfifo in out; { $t watch w <in; echo "$?" >&2; } 2>code >out & exec 4<out 3>in
        dd bs=2 count=1 <&4 >/dev/null 2>&1
        n=$(printf %0200d 0); i=0; while [ $i -lt 9000 ]; do : > w/$n$i; : > w/$n-$i; i=$((i+1)); done
        cat <&4 >/dev/null; until [ -s code ]; do sleep 0.01; done; cat code
        $t watch missing; echo $?; $t watch in; echo $?`);
      expect(stdout).toBe("7\n3\n6\n");
    });
  });
});
