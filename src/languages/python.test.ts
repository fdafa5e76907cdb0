import { describe, expect, it } from "vitest";
import { codeNotices } from "./language-table.ts";
import { codingLine } from "./python.ts";

describe("codingLine", () => {
  it.each([
    ["# -*- coding: latin-1 -*-\nx", "latin-1"],
    ["#!/usr/bin/python3\r\n# vim: set fileencoding=cp1252 :", "cp1252"],
    ["\n#coding=utf8", "utf8"],
    ["x = 1\n# coding: latin-1", null],
    ["# a\n# b\n# coding: latin-1", null],
    ["x = 'coding: latin-1'", null],
    ["", null],
  ])("of %j is %s", (program, named) => {
    expect(codingLine(program)).toBe(named);
  });
});

describe("codeNotices", () => {
  it("warn where Python would show other characters than the author wrote", () => {
    expect(codeNotices("# coding: latin-1\nprint('é')", "python")).toEqual([
      expect.stringContaining("beyond ASCII as latin-1") as string,
    ]);
  });

  it.each([
    ["# coding: latin-1\nprint(1)", "python"],
    ["# coding: utf-8\nprint('é')", "python"],
    ["# coding: UTF-8-sig\nprint('é')", "python"],
    ["print('é')", "python"],
    ["# coding: latin-1\nprint('é')", "javascript"],
  ] as const)("are none for %j in %s", (code, language) => {
    expect(codeNotices(code, language)).toEqual([]);
  });
});
