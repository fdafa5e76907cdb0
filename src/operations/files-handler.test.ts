import { describe, expect, it } from "vitest";
import { Redaction } from "../policy/redaction.ts";
import type { ContentHead, OperationCall } from "./contract/operation-contract.ts";
import { downloadFileHandler, uploadFileHandler, type FileNeeds } from "./files-handler.ts";

type Work = (files: object, call: object) => Promise<unknown>;

/** An environment whose work is done again in a new container, as after the loss of one. */
function replacedOnce(files: object, redaction = new Redaction([])): FileNeeds {
  const environment = {
    spec: { id: "env" },
    redaction: () => redaction,
    useFiles: async (work: Work) => {
      const result = await work(files, {}).catch(() => work(files, {}));
      return { result, restarted: true, warnings: [], toolingFiles: null };
    },
  };
  return { environments: { find: async () => environment } } as unknown as FileNeeds;
}

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

const request = { env_id: "env", path: "a" } as const;
const lost = { errorType: "SANDBOX_LOST" };

describe("a container that is lost during a transfer", () => {
  it("gets no second half of an upload as the whole file", async () => {
    const written: string[] = [];
    const files = {
      write: async (_: string, { chunks }: { readonly chunks: AsyncIterable<Uint8Array> }) => {
        const { value } = (await chunks[Symbol.asyncIterator]().next()) as { readonly value: Uint8Array };
        written.push(Buffer.from(value).toString());
        throw new Error("lost");
      },
    };
    const call = { principal: "ann", stdin: pieces("first", "second") };
    await expect(uploadFileHandler.run(replacedOnce(files), request, call)).rejects.toMatchObject(lost);
    expect(written).toEqual(["first"]);
  });

  it("sends no second file behind the half of the first", async () => {
    const sent: string[] = [];
    const heads: ContentHead[] = [];
    const files = { read: async () => ({ sizeBytes: 10, chunks: pieces("first", new Error("lost")) }) };
    const call: OperationCall = {
      principal: "ann",
      onContent: (head) => void heads.push(head),
      onEvent: (event) => void (event.type === "output" && sent.push(Buffer.from(event.bytes).toString())),
    };
    await expect(downloadFileHandler.run(replacedOnce(files), request, call)).rejects.toMatchObject(lost);
    expect(sent).toEqual(["first"]);
    expect(heads).toEqual([{ sizeBytes: 10, offset: 0, length: 10 }]);
  });
});

it("removes the values of secrets from what is sent, cut anywhere, and announces no size then", async () => {
  const heads: ContentHead[] = [];
  let sent = "";
  const files = { read: async () => ({ sizeBytes: 12, chunks: pieces("a geh", "eim12 b") }) };
  const parts = replacedOnce(files, new Redaction([{ name: "KEY", value: "geheim12" }]));
  await downloadFileHandler.run(parts, request, {
    principal: "ann",
    onContent: (head) => void heads.push(head),
    onEvent: (event) => void (event.type === "output" && (sent += Buffer.from(event.bytes).toString())),
  });
  expect(sent).toBe("a [redacted:KEY] b");
  expect(heads).toEqual([{ sizeBytes: null, offset: 0, length: null }]);
});
