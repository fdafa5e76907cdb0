import { describe, expect, it } from "vitest";
import { auditArchitecture, interpretBpf } from "../../../test/helpers/interpret-bpf.ts";
import { compileSeccompFilter } from "./bpf-compiler.ts";
import { spawnFilter } from "./spawn-filter.ts";
import { syscallNumbers } from "./syscalls.ts";

/** The high half of an argument that the kernel takes as an int. */
const high = 0xdead_beefn << 32n;
const minusOne = 0xffff_ffff;

describe.each(["x64", "arm64"] as const)("SV3: the filter of programs for %s", (architecture) => {
  const { program, probes } = spawnFilter(architecture);
  const answer = (number: number, ...args: (number | bigint)[]): string =>
    interpretBpf(program, auditArchitecture[architecture], number, args.map(BigInt))[0];
  const check = (name: string, ...args: (number | bigint)[]): string =>
    answer(syscallNumbers(architecture).get(name) ?? Number.NaN, ...args);

  it("is a program that the kernel accepts", () => {
    const length = program.length / 8;
    expect(length).toBeLessThan(100);
    const isJump = (at: number): boolean => program[8 * at] === 0x15 || program[8 * at] === 0x35;
    for (const at of Array.from({ length }, (_, index) => index).filter(isJump)) {
      expect(at + 1 + Math.max(...program.subarray(8 * at + 2, 8 * at + 4))).toBeLessThan(length);
    }
    expect(program[8 * (length - 1)]).toBe(0x06);
  });

  it.each(["prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"])(
    "refuses %s for the first process, and for no other",
    (name) => {
      expect(check(name, 1)).toBe("errno 1");
      expect(check(name, high | 1n)).toBe("errno 1");
      for (const process of [0, 2, 3, 255, 256, 257, 0x1_0001, minusOne]) expect(check(name, process)).toBe("allow");
    },
  );

  it.each([
    ["setpriority", { process: 0, group: 1, user: 2, unknown: [3, 4, minusOne] }],
    ["ioprio_set", { process: 1, group: 2, user: 3, unknown: [0, 4, minusOne] }],
  ] as const)("refuses %s for the first process, its group and every user", (name, which) => {
    for (const kind of [which.process, which.group]) {
      expect(check(name, kind, 1)).toBe("errno 1");
      expect(check(name, high | BigInt(kind), high | 1n)).toBe("errno 1");
      for (const who of [0, 2, 4711, minusOne]) expect(check(name, kind, who)).toBe("allow");
    }
    for (const who of [0, 1, 1000, 65_527]) expect(check(name, which.user, who)).toBe("errno 1");
    for (const unknown of which.unknown) expect(check(name, unknown, 0)).toBe("errno 22");
  });

  it.each(["move_pages", "migrate_pages"])("refuses %s", (name) => {
    for (const process of [0, 1, 2, 4711]) expect(check(name, process)).toBe("errno 1");
  });

  it("allows every other call that there is", () => {
    const ruled = new Set(
      `prlimit64 sched_setparam sched_setscheduler sched_setaffinity sched_setattr setpriority ioprio_set move_pages
       migrate_pages`.split(/\s+/),
    );
    const others = [...syscallNumbers(architecture)].filter(([name]) => !ruled.has(name));
    expect(others.length).toBeGreaterThan(300);
    for (const [name, number] of others) expect(answer(number, 1, 1), name).toBe("allow");
    expect(answer(471)).toBe("allow");
  });

  it("answers its probes, made with zeros, as nothing else does", () => {
    for (const { call, errno } of probes) expect(answer(call, 0, 0, 0, 0, 0, 0)).toBe(`errno ${errno}`);
    const [first, second] = probes;
    const known = new Set(syscallNumbers(architecture).values());
    for (const { call, errno } of [first, second]) {
      expect(known.has(call)).toBe(false);
      expect(errno).toBeGreaterThan(133);
      expect(errno).toBeLessThanOrEqual(4095);
    }
    expect(first.errno).not.toBe(second.errno);
  });

  it("does not implement x32, nor another architecture's convention", () => {
    for (const number of [0x4000_0000, 0x4000_0203, 0x4000_012e, minusOne]) expect(answer(number, 1)).toBe("errno 38");
    const others = Object.entries(auditArchitecture).filter(([name]) => name !== architecture);
    for (const [name, audit] of others) {
      for (const number of [0, 1, 97, 302])
        expect(interpretBpf(program, audit, number, [1n])[0], name).toBe("errno 38");
    }
  });
});

describe("SV3: the filter of programs for x64", () => {
  it("has none of the old numbers of x32, one of which moves pages", () => {
    const { program } = spawnFilter("x64");
    const answer = (number: number): string => interpretBpf(program, auditArchitecture.x64, number, [1n])[0];
    for (let number = 512; number < 548; number += 1) expect(answer(number)).toBe("errno 38");
    expect([answer(511), answer(548)]).toEqual(["allow", "allow"]);
  });
});

describe.each(["x64", "arm64"] as const)("SC2: the filter of programs with the whole policy for %s", (architecture) => {
  const answerOf =
    (program: Uint8Array) =>
    (number: number, ...args: readonly number[]): string =>
      interpretBpf(program, auditArchitecture[architecture], number, args.map(BigInt))[0];
  const bare = answerOf(spawnFilter(architecture).program);
  const policy = answerOf(compileSeccompFilter(architecture));
  const { program, probes } = spawnFilter(architecture, { setuidBits: false });
  const whole = answerOf(program);
  const samples = [
    [0, 0, 0],
    [1, 1, 1],
    [1, 0o4755, 0o4755],
    [16, 3, 9],
    [0x7e02_0000, 0x5412, 0x4_0000],
  ] as const;

  it("refuses what either of the two refuses, and nothing else", () => {
    for (const number of [...syscallNumbers(architecture).values(), 600, 0x4000_0000]) {
      for (const values of samples) {
        const [first, second] = [policy(number, ...values), bare(number, ...values)];
        expect(whole(number, ...values), `${number}`).toBe(first === "allow" ? second : first);
      }
    }
  });

  it("answers its probes as no other filter does, and fits where it is sent", () => {
    for (const { call, errno } of probes) expect(whole(call)).toBe(`errno ${errno}`);
    const filters = [spawnFilter(architecture), spawnFilter(architecture, { setuidBits: true }), { probes }];
    for (const canary of [0, 1] as const) {
      expect(new Set(filters.map((each) => each.probes[canary].errno)).size).toBe(3);
    }
    // Instructions that the kernel takes, of eight bytes.
    expect(program.length).toBeLessThanOrEqual(8 * 4_096);
  });

  it("lets installers set the setuid bit, where the policy does", () => {
    const installers = answerOf(spawnFilter(architecture, { setuidBits: true }).program);
    const fchmod = syscallNumbers(architecture).get("fchmod") ?? Number.NaN;
    expect([whole(fchmod, 3, 0o4755), installers(fchmod, 3, 0o4755)]).toEqual(["errno 1", "allow"]);
    expect(installers(syscallNumbers(architecture).get("mount") ?? Number.NaN)).toBe("errno 1");
  });
});
