import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import { mebibyte } from "../../src/base/bytes.ts";

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Input and output are raw bytes, with each stream separate, while the program runs. */
export const streams: Topic = (behaviour) => {
  behaviour("streams.echo", "input comes back, and what is written after its end arrives too", async (scene) => {
    const container = await scene.shared();
    const running = await scene.exec(container, fixtureProgram("answers-after-eof.sh"));
    expect((await running.finish("some input\n")).stdout.toString()).toBe("some input\nend of input\n");
  });

  behaviour("streams.no-input", "input that ends at once is an empty input", async (scene) => {
    const container = await scene.shared();
    expect(await scene.run(container, ["cat"])).toMatchObject({ exitCode: 0, stdout: Buffer.alloc(0) });
  });

  behaviour("streams.apart", "stdout and stderr are separate, each in order", async (scene) => {
    const container = await scene.shared();
    const { stdout, stderr } = await scene.run(container, fixtureProgram("writes-both-streams.sh", "500"));
    const numbered = (word: string): string => Array.from({ length: 500 }, (_, index) => `${word} ${index}\n`).join("");
    expect(stdout.toString()).toBe(numbered("out"));
    expect(stderr.toString()).toBe(numbered("err"));
  });

  behaviour("streams.every-byte", "every byte value arrives unchanged", async (scene) => {
    const container = await scene.shared();
    const { stdout } = await scene.run(container, fixtureProgram("prints-every-byte.sh"));
    expect(stdout).toEqual(Buffer.from(Array.from({ length: 256 }, (_, value) => value)));
  });

  behaviour(
    "streams.split-character",
    "a character that is written in two pieces arrives byte by byte",
    async (scene) => {
      const container = await scene.shared();
      const running = await scene.exec(container, fixtureProgram("splits-a-character.sh"));
      await running.until("stdout", Buffer.from([0xf0, 0x9f]));
      expect((await running.finish("on\n")).stdout).toEqual(Buffer.from([0xf0, 0x9f, 0x98, 0x80]));
    },
  );

  behaviour("streams.live", "output arrives while the program runs, and later input reaches it", async (scene) => {
    const container = await scene.shared();
    const running = await scene.exec(container, fixtureProgram("waits-for-a-line.sh"));
    // The program writes no more, and does not end, until its line arrives.
    await running.until("stdout", "first\n");
    expect((await running.finish("input\n")).stdout.toString()).toBe("first\nthen input\n");
  });

  behaviour("streams.main-live", "output of a main command arrives while it runs", async (scene) => {
    const { main } = await scene.main(fixtureProgram("waits-for-a-line.sh"));
    await main.until("stdout", "first\n");
    expect((await main.finish("input\n")).stdout.toString()).toBe("first\nthen input\n");
  });

  behaviour("streams.round-trip", "20 MiB of random bytes go in and come back unchanged", async (scene) => {
    const container = await scene.shared();
    const sent = randomBytes(20 * mebibyte);
    const running = await scene.exec(container, ["cat"]);
    const { exitCode, stdout } = await running.finish(sent);
    expect({ exitCode, length: stdout.length, hash: sha256(stdout) }).toEqual({
      exitCode: 0,
      length: sent.length,
      hash: sha256(sent),
    });
  });

  behaviour("streams.main-round-trip", "5 MiB of random bytes pass through a main command unchanged", async (scene) => {
    const { main } = await scene.main(["cat"]);
    const sent = randomBytes(5 * mebibyte);
    const { stdout } = await main.finish(sent);
    expect({ length: stdout.length, hash: sha256(stdout) }).toEqual({ length: sent.length, hash: sha256(sent) });
  });

  behaviour("streams.input-after-the-end", "input for a program that has ended does no harm", async (scene) => {
    const container = await scene.shared();
    const { process } = await scene.exec(container, ["true"]);
    expect(await process.exit).toEqual({ exitCode: 0 });
    process.stdin.write(randomBytes(mebibyte));
    process.stdin.end("more");
    expect((await scene.run(container, ["echo", "well"])).stdout.toString()).toBe("well\n");
  });

  behaviour("streams.input-not-read", "a program that ends without reading its input succeeds", async (scene) => {
    const container = await scene.shared();
    const running = await scene.exec(container, ["sh", "-c", "echo enough"]);
    const { exitCode, stdout } = await running.finish(randomBytes(4 * mebibyte));
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "enough\n" });
  });
};
