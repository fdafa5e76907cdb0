import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** Programs in a running container end with the code that a shell would show. */
export const exec: Topic = (behaviour) => {
  behaviour("exec.exit-codes", "exit codes arrive unchanged", async (scene) => {
    const container = await scene.shared();
    for (const code of [0, 3, 255]) {
      expect(await scene.run(container, ["sh", "-c", `exit ${code}`])).toMatchObject({ exitCode: code });
    }
  });

  behaviour("exec.signals", "death by signal N is 128 + N", async (scene) => {
    const container = await scene.shared();
    const deaths = { KILL: 137, SEGV: 139, TERM: 143 };
    for (const [signal, exitCode] of Object.entries(deaths)) {
      expect(await scene.run(container, fixtureProgram("ends-by-signal.sh", signal)), signal).toMatchObject({
        exitCode,
      });
    }
  });

  behaviour("exec.quiet-signals", "nothing is written on behalf of a program that a signal ends", async (scene) => {
    const container = await scene.shared();
    const { stdout, stderr } = await scene.run(container, fixtureProgram("ends-by-signal.sh", "KILL"));
    expect({ stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({ stdout: "", stderr: "" });
  });

  behaviour(
    "exec.signal-alone",
    "a signal reaches only the program itself, not what it started, and it may go on",
    async (scene) => {
      const container = await scene.idle();
      const script =
        "trap 'echo got it' HUP; sh -c \"trap 'echo child' HUP; echo up; while :; do sleep 0.1; done\" & while :; do sleep 0.1; done";
      const program = await scene.exec(container, ["sh", "-c", script]);
      const beside = await scene.exec(container, ["sh", "-c", "echo up; read -r line"]);
      await Promise.all([program.until("stdout", "up\n"), beside.until("stdout", "up\n")]);
      await program.process.signal!("SIGHUP");
      await program.until("stdout", "got it\n");
      await program.process.signal!("SIGTERM");
      expect(await program.process.exit).toEqual({ exitCode: 128 + 15 });
      // It has ended: no other process may be hit instead.
      await program.process.signal!("SIGTERM");
      await program.process.kill("SIGKILL");
      expect(program.text("stdout")).not.toContain("child");
      expect(await beside.finish("on\n")).toMatchObject({ exitCode: 0 });
    },
  );

  behaviour("exec.missing-program", "a missing program is 127 and is named on stderr", async (scene) => {
    const container = await scene.shared();
    for (const program of ["no-such-program", "/work/no-such-program"]) {
      const { exitCode, stdout, stderr } = await scene.run(container, [program, "argument"]);
      expect({ program, exitCode, stdout: stdout.toString() }).toEqual({ program, exitCode: 127, stdout: "" });
      expect(stderr.toString()).toContain("no-such-program");
    }
  });

  behaviour("exec.not-executable", "a file that is not executable is 126 and is named on stderr", async (scene) => {
    const container = await scene.shared();
    await scene.run(container, ["sh", "-c", "echo text >/work/plain-file; chmod 644 /work/plain-file"]);
    const { exitCode, stdout, stderr } = await scene.run(container, ["/work/plain-file"]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 126, stdout: "" });
    expect(stderr.toString()).toContain("plain-file");
  });

  behaviour("exec.own-exit-127", "a program's own exit code 127 or 126 is kept", async (scene) => {
    const container = await scene.shared();
    for (const code of [126, 127]) {
      const { exitCode, stdout, stderr } = await scene.run(container, [
        "sh",
        "-c",
        `echo out; echo err >&2; exit ${code}`,
      ]);
      expect({ exitCode, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
        exitCode: code,
        stdout: "out\n",
        stderr: "err\n",
      });
    }
  });

  behaviour("exec.concurrent", "programs in one container run at the same time and do not mix", async (scene) => {
    const container = await scene.shared();
    const waiting = await scene.exec(container, fixtureProgram("waits-for-a-line.sh"));
    await waiting.until("stdout", "first\n");
    const numbers = ["1", "2", "3", "4"];
    const others = await Promise.all(numbers.map((number) => scene.run(container, ["echo", number])));
    expect(others.map(({ stdout }) => stdout.toString())).toEqual(numbers.map((number) => `${number}\n`));
    expect((await waiting.finish("on\n")).stdout.toString()).toBe("first\nthen on\n");
  });

  behaviour("exec.shares-files", "programs of one container see each other's files", async (scene) => {
    const container = await scene.shared();
    await scene.run(container, ["sh", "-c", "echo kept >/work/file"]);
    expect((await scene.run(container, ["cat", "/work/file"])).stdout.toString()).toBe("kept\n");
  });

  behaviour("exec.working-directory", "an exec starts in its own directory, else in the container's", async (scene) => {
    const container = await scene.idle({ workingDirectory: "/work" });
    expect((await scene.run(container, ["pwd"])).stdout.toString()).toBe("/work\n");
    expect((await scene.run(container, ["pwd"], { workingDirectory: "/tmp" })).stdout.toString()).toBe("/tmp\n");
  });

  behaviour("exec.main-working-directory", "a main command starts in the container's directory", async (scene) => {
    const { main } = await scene.main(["pwd"], { workingDirectory: "/tmp" });
    expect((await main.finish()).stdout.toString()).toBe("/tmp\n");
  });

  behaviour("exec.default-working-directory", "the default directory is the root", async (scene) => {
    const container = await scene.idle({ workingDirectory: undefined });
    expect((await scene.run(container, ["pwd"])).stdout.toString()).toBe("/\n");
  });
};
