import { describe, expect, it } from "vitest";
import { ProjectGrowth, type TreeSize } from "./project-growth.ts";

const mb = 1024 * 1024;
const settle = (growth: ProjectGrowth, size: TreeSize): boolean => {
  growth.beginWalk();
  return growth.settle(size);
};
const tree = (megabytes: number, freshMegabytes: number, files = 10, freshFiles = 0): TreeSize => ({
  bytes: megabytes * mb,
  files,
  freshBytes: freshMegabytes * mb,
  freshFiles,
  isWhole: true,
});

describe("ProjectGrowth", () => {
  const open = () => {
    const growth = new ProjectGrowth({ bytes: 100 * mb, files: 100_000 });
    let files = 1_000_000;
    let bytes = 1_000 * mb;
    return {
      growth,
      take: (megabytes: number, { worked = true, inodes = 0, freed = 0 } = {}) => {
        bytes -= megabytes * mb;
        files -= inodes;
        growth.observe({ bytes, files }, { worked, freed });
        return growth.needsWalk;
      },
    };
  };

  it("asks for a walk only once enough has gone while work ran, in one piece or in many", () => {
    const { take } = open();
    expect(take(0, { worked: false })).toBe(false);
    expect(take(24)).toBe(false);
    expect(take(500, { worked: false })).toBe(false);
    expect(take(0.5)).toBe(false);
    expect(take(0.5)).toBe(true);
  });

  it("asks for one when files have come that take no space, and when the sandbox freed elsewhere what it took here", () => {
    const first = open();
    first.take(0, { worked: false });
    expect(first.take(0, { inodes: 24_999 })).toBe(false);
    expect(first.take(0, { inodes: 1 })).toBe(true);
    const second = open();
    second.take(0, { worked: false });
    expect(second.take(0, { freed: 25 * mb })).toBe(true);
  });

  it("counts no more than has gone and no more than is fresh at the first walk, and then exactly", () => {
    const { growth, take } = open();
    take(0, { worked: false });
    take(60);
    // 500 MB were only touched.
    expect(settle(growth, tree(700, 500))).toBe(true);
    expect(growth.grown.bytes).toBe(60 * mb);
    take(30);
    expect(settle(growth, tree(710, 20))).toBe(true);
    expect(growth.grown.bytes).toBe(70 * mb);
    take(30);
    expect(settle(growth, tree(650, 0))).toBe(false);
    expect(growth.grown.bytes).toBe(10 * mb);
  });

  it("does not count what came while nothing ran, and takes off what went then", () => {
    const { growth, take } = open();
    take(0, { worked: false });
    take(40);
    settle(growth, tree(140, 40));
    take(300, { worked: false });
    take(26);
    expect(settle(growth, tree(466, 326))).toBe(true);
    expect(growth.grown.bytes).toBe(66 * mb);
    take(-400, { worked: false });
    take(30);
    expect(settle(growth, tree(96, 30))).toBe(false);
    expect(growth.grown.bytes).toBe(0);
  });

  it("counts all that has gone where the folder could not be walked through", () => {
    const { growth, take } = open();
    take(0, { worked: false });
    take(120, { inodes: 5_000 });
    expect(settle(growth, { ...tree(3, 3, 2, 2), isWhole: false })).toBe(true);
    expect(growth.grown).toEqual({ bytes: 120 * mb, files: 5_000 });
  });

  it("counts what goes during a walk for the next one too", () => {
    const { growth, take } = open();
    take(0, { worked: false });
    take(40);
    growth.beginWalk();
    take(30);
    growth.settle(tree(50, 50));
    expect(growth.needsWalk).toBe(true);
    expect(settle(growth, tree(70, 70))).toBe(true);
    expect(growth.grown.bytes).toBe(70 * mb);
  });

  it("walks for files wherever a file system counts none", () => {
    const growth = new ProjectGrowth({ bytes: 100 * mb, files: 100 });
    growth.observe({ bytes: mb, files: null }, { worked: false });
    growth.observe({ bytes: mb - 1, files: null }, { worked: true });
    expect(growth.needsWalk).toBe(true);
    expect(settle(growth, tree(1, 1, 300, 200))).toBe(true);
    expect(growth.grown.files).toBe(200);
  });

  it("counts all that is in a folder that was empty at first, though others freed as much meanwhile", () => {
    const growth = new ProjectGrowth({ bytes: 100 * mb, files: 100_000 }, { startsEmpty: true });
    growth.observe({ bytes: 1_000 * mb, files: null }, { worked: false });
    growth.observe({ bytes: 1_000 * mb, files: null }, { worked: true });
    expect(settle(growth, tree(400, 400))).toBe(true);
    expect(growth.grown.bytes).toBe(400 * mb);
    expect(settle(growth, tree(150, 0))).toBe(false);
    expect(growth.grown.bytes).toBe(150 * mb);
  });
});
