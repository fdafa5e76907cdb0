import { expect, it } from "vitest";
import { openChannel } from "../../../../test/helpers/supervisor-stand-in.ts";
import { ends, stages } from "../frames/frame-table.ts";
import { addressBytes, reachAddress } from "./container-network.ts";

it.each([
  ["10.1.2.255", [10, 1, 2, 255]],
  ["::1", [...Array.from({ length: 15 }, () => 0), 1]],
  ["fd00:a::12:3", [0xfd, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 3]],
  ["1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
])("writes %s as the kernel has it", (address, bytes) => {
  expect([...addressBytes(address)]).toEqual(bytes);
});

it("says whether the sandbox reaches an address, and says nothing there", async () => {
  const { channel, standIn } = openChannel();
  standIn.hello();
  await channel.hello();
  const open = reachAddress(channel, { address: "10.0.0.1", port: 443 });
  const dial = await standIn.next("DIAL");
  expect(dial.fields).toMatchObject({ port: 443, family: 4, tail: Buffer.from([10, 0, 0, 1]) });
  standIn.say("OPENED", dial.stream, { port: 5000 });
  expect(await open).toBe(true);
  await standIn.next("CLOSE");
  expect(standIn.got("INPUT")).toEqual([]);
  const closed = reachAddress(channel, { address: "::2", port: 443 });
  standIn.end((await standIn.next("DIAL", 2)).stream, { reason: ends.FAILED, stage: stages.CONNECT, error: 111 });
  expect(await closed).toBe(false);
});
