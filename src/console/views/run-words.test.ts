import { expect, it } from "vitest";
import { workWords } from "./run-words.tsx";

it.each([
  ["python: print(1)", "execute", { language: "Python", line: "print(1)" }],
  ["typescript: type A = { a: 1 }", "session", { language: "TypeScript", line: "type A = { a: 1 }" }],
  ["javascript", "execute", { language: "JavaScript", line: "" }],
  ["claude: fix the tests: all of them", "agent", { language: "claude", line: "fix the tests: all of them" }],
])("finds what %j of a %s is", (work, kind, words) => expect(workWords(work, kind)).toEqual(words));

it.each([
  ["npm test", "environment"],
  ["python: print(1)", "environment"],
  ["python -m pytest", "test"],
  ["ruby: puts 1", "execute"],
  ["pythons: print(1)", "execute"],
  ["<b>python</b>: x", "execute"],
  ["", "execute"],
])("takes %j of a %s as it is", (work, kind) => expect(workWords(work, kind)).toEqual({ language: null, line: work }));
