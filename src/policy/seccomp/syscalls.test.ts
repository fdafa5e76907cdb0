import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { syscallNumbers } from "./syscalls.ts";

const header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";

describe("syscallNumbers", () => {
  it.each([
    ["x64", { read: 0, socket: 41, clone: 56, ptrace: 101, seccomp: 317, rseq: 334, uprobe: 336, clone3: 435 }],
    ["arm64", { io_setup: 0, ioctl: 29, read: 63, ptrace: 117, socket: 198, clone: 220, wait4: 260, clone3: 435 }],
  ] as const)("knows the numbers of %s", (architecture, numbers) => {
    expect(Object.fromEntries(syscallNumbers(architecture))).toMatchObject(numbers);
  });

  it.each(["x64", "arm64"] as const)("ends with Linux 6.18 and ascends without a double on %s", (architecture) => {
    const numbers = [...syscallNumbers(architecture).values()];
    expect(numbers.at(-1)).toBe(469);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((left, right) => left - right));
  });

  it.skipIf(!existsSync(header))("agrees with the kernel headers of this machine", () => {
    const defined = [...readFileSync(header, "utf8").matchAll(/^#define __NR_(\w+) (\d+)$/gm)]
      .map(([, name = "", number]): [string, number] => [name, Number(number)])
      .filter(([, number]) => number <= 469);
    expect(defined.length).toBeGreaterThan(300);
    expect(Object.fromEntries(syscallNumbers("x64"))).toMatchObject(Object.fromEntries(defined));
  });
});
