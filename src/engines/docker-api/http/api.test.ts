import { expect, it } from "vitest";
import { openAnsweringEngine } from "../../../../test/helpers/answering-engine.ts";
import { mebibyte } from "../../../base/bytes.ts";

it("breaks off an answer that is longer than any engine's", async () => {
  let sentBytes = 0;
  using engine = await openAnsweringEngine("docker", (_, response) => {
    const piece = Buffer.alloc(mebibyte, " ");
    const send = (): void => {
      while (!response.destroyed && sentBytes < 128 * mebibyte) {
        sentBytes += piece.length;
        if (!response.write(piece)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
  });
  await expect(engine.api.call("list images", { method: "GET", path: "/images/json" })).rejects.toMatchObject({
    errorType: "INTERNAL",
    message: "Docker answered with more than 64 MB.",
  });
  expect(sentBytes).toBeLessThan(128 * mebibyte);
});
