import { afterAll } from "vitest";

/** Time limit for all tests of one file in one lane: a hang beyond the tests' own limits must not hold up the rest. */
const boundMs = 40 * 60_000;

const bound = setTimeout(() => {
  process.stderr.write(`This file has taken ${boundMs / 60_000} minutes and is ended.\n`);
  process.kill(process.pid, "SIGKILL");
}, boundMs).unref();

// Its process may go on with the next file.
afterAll(() => clearTimeout(bound));
