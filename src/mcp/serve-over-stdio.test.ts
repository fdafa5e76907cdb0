import { describe, expect, it } from "vitest";
import { parseMessage } from "./serve-over-stdio.ts";

const parse = (text: string | Uint8Array) => parseMessage(typeof text === "string" ? Buffer.from(text) : text);

describe("a message", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}\r'],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}'],
    ['{"jsonrpc":"2.0","id":1,"result":{}}'],
  ])("is read: %s", (text) => {
    expect(parse(text)).toEqual({ message: JSON.parse(text) });
  });
});

describe("what is no message", () => {
  it.each<[string, number, number | string | null, RegExp]>([
    ["{", -32700, null, /JSON/],
    ["hello", -32700, null, /JSON/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}\0', -32700, null, /JSON/],
    ["[]", -32600, null, /batches/],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null, /batches/],
    ["null", -32600, null, /object/],
    ["42", -32600, null, /object/],
    ['{"id":7,"method":"ping"}', -32600, 7, /jsonrpc/],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7, /jsonrpc/],
    ['{"jsonrpc":"2.0","id":7}', -32600, 7, /method/],
    ['{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7, /method/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null, /id/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null, /id/],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null, /id/],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', -32602, 7, /params/],
    ['{"jsonrpc":"2.0","id":"x","method":"ping","params":"no"}', -32602, "x", /params/],
  ])("is refused: %s", (text, code, id, words) => {
    expect(parse(text)).toMatchObject({ failure: { id, error: { code, message: expect.stringMatching(words) } } });
  });

  it("is refused where it is not UTF-8", () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(parse(bytes)).toMatchObject({ failure: { id: null, error: { code: -32700 } } });
  });
});
