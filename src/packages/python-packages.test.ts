import { describe, expect, it } from "vitest";
import { findModules } from "./python-packages.ts";

const find = (source: string): string => [...findModules(source).keys()].toSorted().join(" ");

describe("findModules", () => {
  it.each([
    ["statements", "import a, b.c as d\nfrom e.f import g as h, i\nfrom j import *", "a b.c e.f.g e.f.i j"],
    ["brackets and comments", "from a import (  # from x\n  b,  # , y\n  c,\n)\nimport\\\n  d \\\n  .e", "a.b a.c d.e"],
    ["semicolons", "import a; import b; from c import d", "a b c.d"],
    ["relative ones", "from . import a\nfrom .b import c\nfrom ...d import e\nfrom .... import f\nfrom.g import h", ""],
    [
      "everywhere",
      "try:\n  import a\nexcept: import b\nasync def f():\n  with x: import c\nclass D:\n  import d\nmatch x:\n  case 1: import e",
      "a b c d e",
    ],
    [
      "strings, comments and doctests",
      "'import a'\n# import b\n'''\nimport c\n>>> import d\n'''\nr'\\'; import e'",
      "",
    ],
    [
      "soft keywords as names",
      "import match, type, print\nfrom case.exec import nonlocal_",
      "case.exec.nonlocal_ match print type",
    ],
    ["new grammar", "type A[T] = f'{d[\"k\"]}'\ndef f[T](x: T): import a\ntry: pass\nexcept* E: import b", "a b"],
    ["Python 2", "print 'x'\nexec 'y'\nimport a\nraise E, 'z'\nimport b", "a b"],
    ["a byte order mark, a hashbang, CRLF, CR and tabs", "\uFEFFimport a\r\n#!x\rimport b\nif x:\n\timport c", "a b c"],
    ["compatibility characters", "import ｎumpy", "numpy"],
  ])("%s", (_, source, expected) => {
    expect(find(source)).toBe(expected);
  });

  it.each([
    "if TYPE_CHECKING:\n  import no\nelse:\n  import yes",
    "if typing.TYPE_CHECKING: from no import x\nimport yes",
    "if a: import yes\nelif (TYPE_CHECKING):\n  def f():\n    import no",
    "if not TYPE_CHECKING: import yes",
  ])("leaves out what only type checkers import: %j", (source) => {
    expect(find(source)).toBe("yes");
  });

  it.each([
    ["__import__('a.b'); f\"{__import__('c')}\"", "a.b c"],
    ["importlib.import_module(\"a\"); importlib.import_module(name=r'b', package='c')", "a b"],
    ["from importlib import import_module as load\nload('a')", "a importlib.import_module"],
    ["import importlib as i\ni.import_module('a')", "a importlib"],
    ["import_module('.a', 'b'); __import__(c); __import__('d' 'e'); __import__(f'{g}'); x.__import__('h')", ""],
    ["import_module(package='a'); __import__(); __import__('a;b'); __import__('-a')", ""],
  ])("calls: %s", (source, expected) => {
    expect(find(source)).toBe(expected);
  });

  it.each([
    ["import a\ndef broken(:\n    pass\nimport b", "a b"],
    ["x = (1,\nimport a\nimport b", "a b"],
    ["%matplotlib inline\n!pip install x\nimport a", "a"],
    ["import a,\nimport\nfrom b import\nfrom\nimport c\0", "a c"],
    ["x = 'open\nimport a\n'''open\nimport b", "a"],
    ["\0\ud800)]}\nimport a", "a"],
  ])("gives what is around a mistake: %j", (source, expected) => {
    expect(find(source)).toBe(expected);
  });
});
