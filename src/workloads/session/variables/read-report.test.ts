import { expect, it } from "vitest";
import { Redaction } from "../../../policy/redaction.ts";
import { plainException } from "./read-report.ts";

it("an exception is shown as plain text without secrets", () => {
  const redaction = new Redaction([{ name: "KEY", value: "geheim-1234567890" }]);
  const given = {
    name: "Bad\n\u001b[31mName\u001b[0m",
    value: "a\u0007\u001b]0;title\u0007 geheim-1234567890\u009d\n\tb\ud800",
    traceback: "one\r\n\u0000two geheim-1234567890",
  };
  expect(plainException(given, redaction)).toEqual({
    name: "Bad Name",
    value: "a [redacted:KEY]\n\tb\ufffd",
    traceback: "one\ntwo [redacted:KEY]",
  });
});
