import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { untilWritable } from "../../src/base/streams/chunks.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

const multitude = 20;
const numbers: readonly string[] = Array.from({ length: multitude }, (_, index) => String(index));

/** Many containers and programs at once, and large amounts of data in one. */
export const multitudes: Topic = (behaviour) => {
  behaviour(
    "multitude.containers",
    "twenty containers created at the same time do not mix",
    async (scene) => {
      const outputs = await Promise.all(
        numbers.map(async (number) => {
          const container = await scene.idle({ environment: { NUMBER: number } });
          await scene.run(container, ["sh", "-c", 'echo "$NUMBER" >/work/number']);
          return (await scene.run(container, ["cat", "/work/number"])).stdout.toString().trim();
        }),
      );
      expect(outputs).toEqual(numbers);
      expect(await scene.containers()).toHaveLength(multitude);
    },
    { timeoutMs: 180_000 },
  );

  behaviour(
    "multitude.programs",
    "twenty programs in one container run at the same time and do not mix",
    async (scene) => {
      const container = await scene.idle({ limits: { pids: 200 } });
      const running = await Promise.all(
        numbers.map((number) =>
          scene.exec(container, ["sh", "-c", 'echo "ready $1"; read -r line; echo "$1 heard $line"', "sh", number]),
        ),
      );
      // None gets its line before all of them run.
      await Promise.all(running.map((program, index) => program.until("stdout", `ready ${index}\n`)));
      const finished = await Promise.all(running.map((program, index) => program.finish(`line ${index}\n`)));
      expect(finished.map(({ exitCode, stdout }) => [exitCode, stdout.toString()])).toEqual(
        numbers.map((number) => [0, `ready ${number}\n${number} heard line ${number}\n`]),
      );
    },
    { timeoutMs: 180_000 },
  );

  behaviour(
    "multitude.floods",
    "twenty floods wait for their slow readers, take little memory here, and are complete",
    async (scene) => {
      const container = await scene.idle({ limits: { pids: 200 } });
      const before = process.memoryUsage().rss;
      const programs = await Promise.all(
        numbers.map((number) =>
          container.exec({ command: fixtureProgram("floods-stdout.sh", "10", `/work/done-${number}`) }),
        ),
      );
      let grown = 0;
      const received = await Promise.all(
        programs.map(async (program) => {
          program.stdin.end();
          let count = 0;
          for await (const { bytes } of program.output) {
            if (count === 0) await sleep(1_000);
            count += bytes.length;
            grown = Math.max(grown, process.memoryUsage().rss - before);
          }
          return count;
        }),
      );
      expect(received).toEqual(numbers.map(() => 10 * mebibyte));
      expect(await Promise.all(programs.map(({ exit }) => exit))).toEqual(numbers.map(() => ({ exitCode: 0 })));
      expect(grown).toBeLessThan(128 * mebibyte);
    },
    { timeoutMs: 180_000 },
  );

  behaviour(
    "multitude.input",
    "200 MiB of input arrive unchanged, at the pace of the program",
    async (scene) => {
      const container = await scene.idle();
      // It reads a little late, so that the input has to wait.
      const running = await scene.exec(container, ["sh", "-c", "sleep 1; sha256sum"]);
      const { stdin } = running.process;
      const sum = createHash("sha256");
      const before = process.memoryUsage().rss;
      let grown = 0;
      for (let count = 0; count < 200; count++) {
        const piece = randomBytes(mebibyte);
        sum.update(piece);
        if (!stdin.write(piece)) await untilWritable(stdin);
        grown = Math.max(grown, process.memoryUsage().rss - before);
      }
      const { exitCode, stdout } = await running.finish();
      expect({ exitCode, hash: stdout.toString().split(" ")[0] }).toEqual({ exitCode: 0, hash: sum.digest("hex") });
      expect(grown).toBeLessThan(100 * mebibyte);
    },
    { timeoutMs: 180_000 },
  );
};
