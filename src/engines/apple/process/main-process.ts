import { Writable } from "node:stream";
import type { OutputChunk, Process } from "../../engine.ts";
import type { StartedProgram } from "../../inside/running-container.ts";

/** The process of a container's own command, attached to before there is one. */
export class MainProcess {
  readonly process: Process;
  readonly #started = Promise.withResolvers<StartedProgram>();

  constructor(kill: Process["kill"]) {
    const started = this.#started.promise;
    const exit = started.then((program) => program.exit);
    for (const promise of [started, exit]) {
      promise.catch(() => {
        // Whoever awaits `exit` is told; nobody may.
      });
    }
    this.process = { stdin: inputOf(started), output: outputOf(started), exit, kill };
  }

  begin(program: StartedProgram): void {
    this.#started.resolve(program);
  }

  /** It was not started and never will be. */
  abandon(error: Error): void {
    this.#started.reject(error);
  }
}

/** Waits for the program; what was meant for one that never came is dropped. */
function inputOf(started: Promise<StartedProgram>): Writable {
  const forward = (act: (program: StartedProgram) => void, done: () => void): void => {
    started.then(act, () => done());
  };
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => forward(({ stdin }) => stdin.write(chunk, () => done()), done),
    final: (done) =>
      forward(({ stdin }) => {
        stdin.end();
        done();
      }, done),
  });
}

function outputOf(started: Promise<StartedProgram>): AsyncIterable<OutputChunk> {
  const source = started.then(({ output }) => output[Symbol.asyncIterator]());
  source.catch(() => undefined);
  const done = { value: undefined, done: true } as const;
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const iterator = await source.catch(() => null);
        if (iterator === null) return done;
        const result = await iterator.next();
        return result.done === true ? done : result;
      },
      return: async () => {
        void source.then((iterator) => iterator.return?.()).catch(() => undefined);
        return done;
      },
    }),
  };
}
