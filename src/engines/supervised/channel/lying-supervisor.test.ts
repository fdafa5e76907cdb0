import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import {
  openChannel,
  readyChannel,
  standInTerms,
  type OpenedChannel,
  type SupervisorStandIn,
} from "../../../../test/helpers/supervisor-stand-in.ts";
import { encodeFrame, type FrameFields } from "../frames/frame.ts";
import { factBits } from "../frames/frame-table.ts";
import { channelTimes, type SupervisorChannel } from "./channel.ts";
import type { ProgramRequest } from "./program.ts";

const request: ProgramRequest = { command: ["a"], environment: {}, folder: "/", user: 1, group: 1 };
const anyFile = { folder: "/", path: "a", user: 1, group: 1, deadlineMs: 1000, maxEntries: 1, maxBytes: 1n } as const;
const nothing = Buffer.alloc(0);
const stats: FrameFields<"STATS"> = {
  ...{
    memoryBytes: 0n,
    memoryPeakBytes: 0n,
    memoryLimitBytes: 0n,
    memoryKills: 0n,
    cpuUs: 0n,
    diskReadBytes: 0n,
    diskWriteBytes: 0n,
    memoryCacheBytes: 0n,
    scratchBytes: 0n,
  },
  ...{ processes: 0n, processLimit: 0n, monotonicUs: 0n, tail: nothing },
};

/** Streams of the channel below, each in the state that its name says. */
const on = {
  starting: 1,
  running: 2,
  held: 3,
  terminal: 4,
  dialling: 5,
  open: 6,
  ports: 7,
  datagrams: 8,
  file: 9,
  gone: 10,
};
const unknown = 11;
const accepted = 0x8000_0000;

/** A channel with a stream of each kind. */
async function busyChannel(): Promise<OpenedChannel & { readonly settled: Promise<unknown> }> {
  const opened = await readyChannel();
  const { standIn, channel } = opened;
  const terminal = { rows: 1, columns: 1 };
  const programs = [
    await channel.spawn(request),
    await channel.spawn(request),
    await channel.spawn({ ...request, isHeld: true }),
    await channel.spawn({ ...request, terminal }),
  ];
  const connections = [await channel.dial(80, 4, 1000), await channel.dial(80, 4, 1000)];
  const ports = await channel.listen(53, 4, { kind: "connections", onConnection: (each) => each.resume() });
  const datagrams = await channel.listen(53, 4, { kind: "datagrams", onDatagram: () => undefined });
  const file = await channel.file({ ...anyFile, verb: "READ" });
  const gone = await channel.dial(1, 4, 1000);
  for (const stream of [on.running, on.terminal]) standIn.say("STARTED", stream, { pid: 5 });
  for (const stream of [on.open, on.ports, on.datagrams]) standIn.say("OPENED", stream, { port: 9 });
  standIn.end(on.gone, { reason: 1, stage: 14, error: 111 });
  await gone.dialled;
  const all: Promise<unknown>[] = [
    ...programs.flatMap((program) => [program.started, program.exit, program.ended]),
    ...connections.map((connection) => connection.dialled),
    ...[ports.started, ports.ended, datagrams.started, datagrams.ended, file.ended],
    ...programs.map(async (program) => {
      for await (const chunk of program.output) void chunk;
    }),
    ...[channel.numbers(), channel.left(), programs[1]!.left()],
  ];
  await standIn.next("ASK_LEFT", 2);
  return { ...opened, settled: Promise.allSettled(all) };
}

type Lie = (standIn: SupervisorStandIn, channel: SupervisorChannel) => void;

const exit = { code: 0, signal: 0, userUs: 0n, systemUs: 0n, maxResidentKb: 0n };
const opened = { port: 1 };

const lies: Readonly<Record<string, Lie>> = {
  "an unknown type": ({ side }) => side.write(Buffer.from([0, 0, 0, 0, 99, 0, 7, 0, 0, 0, 0, 0])),
  "a frame of the host": ({ side }) => side.write(encodeFrame("RELEASE", { epoch: 7, stream: 1 }, {})),
  "a frame of another epoch": ({ side }) => side.write(encodeFrame("PONG", { epoch: 8, stream: 0 }, { nonce: 1n })),
  "a length beyond all bounds": ({ side }) => side.write(Buffer.from([255, 255, 255, 255, 67, 0, 7, 0, 2, 0, 0, 0])),
  "a second HELLO": (standIn) => standIn.hello(),
  "PONG without PING": (standIn) => standIn.say("PONG", 0, { nonce: 1n }),
  "STATS twice": (standIn) => [1, 2].map(() => standIn.say("STATS", 0, stats)),
  "STATS beyond what is pushed": (standIn, channel) => {
    channel.pushNumbers(() => undefined);
    for (let count = 0; count < 100; count++) standIn.say("STATS", 0, stats);
  },
  "STATS with half a record": (standIn) => standIn.say("STATS", 0, { ...stats, tail: Buffer.alloc(9) }),
  "LEFT that nobody asked for": (standIn) => standIn.say("LEFT", on.starting, { count: 0, tail: nothing }),
  "LEFT twice": (standIn) => [1, 2].map(() => standIn.say("LEFT", 0, { count: 0, tail: nothing })),
  "LEFT that counts what it does not list": (standIn) => standIn.say("LEFT", 0, { count: 3, tail: nothing }),
  "TROUBLE that is too long": (standIn) => standIn.say("TROUBLE", 0, { code: 1, tail: Buffer.alloc(513) }),

  "a frame for a stream that was never begun": (standIn) => standIn.say("STARTED", unknown, { pid: 1 }),
  "a frame for a stream that has ended": (standIn) => standIn.say("OPENED", on.gone, opened),
  "output for a stream that has ended": (standIn) => standIn.output(on.gone, "late"),
  "ENDED twice": (standIn) => standIn.end(on.gone),
  "credit for a stream that has ended": (standIn) => standIn.say("CREDIT", on.gone, { bytes: 1 }),
  "credit for more than was sent": (standIn) => standIn.say("CREDIT", on.starting, { bytes: 100 }),
  "credit for nothing": (standIn) => standIn.say("CREDIT", on.starting, { bytes: 0 }),
  "ENDED with an unknown reason": (standIn) => standIn.end(on.file, { reason: 9 }),
  "ENDED with an unknown stage": (standIn) => standIn.end(on.file, { reason: 1, stage: 99 }),

  "STARTED twice": (standIn) => standIn.say("STARTED", on.running, { pid: 6 }),
  "output of a program that has not started": (standIn) => standIn.output(on.starting, "x"),
  "errors of a program that has a terminal": (standIn) =>
    standIn.say("ERROR_OUTPUT", on.terminal, { tail: Buffer.from("x") }),
  "output without a byte": (standIn) => standIn.output(on.running, ""),
  "output after its end": (standIn) => {
    standIn.say("OUTPUT_END", on.running, { channel: 1 });
    standIn.output(on.running, "x");
  },
  "the end of output twice": (standIn) => [1, 2].map(() => standIn.say("OUTPUT_END", on.running, { channel: 2 })),
  "the end of an output that there is not": (standIn) => standIn.say("OUTPUT_END", on.running, { channel: 3 }),
  "EXIT before STARTED": (standIn) => standIn.say("EXIT", on.starting, exit),
  "EXIT twice": (standIn) => [1, 2].map(() => standIn.exit(on.running)),
  "EXIT by a signal and by a code": (standIn) => standIn.say("EXIT", on.running, { ...exit, code: 1, signal: 9 }),
  "EXIT by a signal that there is not": (standIn) => standIn.say("EXIT", on.running, { ...exit, signal: 65 }),
  "the end of a tree whose program lives": (standIn) => standIn.end(on.running),
  "a program that failed after it began": (standIn) => standIn.end(on.running, { reason: 1, stage: 9, error: 2 }),
  "a program that was closed": (standIn) => standIn.end(on.running, { reason: 4 }),
  "a program's deadline": (standIn) => standIn.end(on.running, { reason: 3 }),
  "a program that was refused after it began": (standIn) => standIn.end(on.running, { reason: 5, stage: 1 }),
  "a program that opens": (standIn) => standIn.say("OPENED", on.running, opened),

  "a connection that opens twice": (standIn) => standIn.say("OPENED", on.open, opened),
  "output of a connection that is not open": (standIn) => standIn.output(on.dialling, "x"),
  "output of a connection after its end": (standIn) => {
    standIn.say("OUTPUT_END", on.open, { channel: 1 });
    standIn.output(on.open, "x");
  },
  "errors of a connection": (standIn) => standIn.say("ERROR_OUTPUT", on.open, { tail: Buffer.from("x") }),
  "the other output's end of a connection": (standIn) => standIn.say("OUTPUT_END", on.open, { channel: 2 }),
  "the end of a connection that goes on": (standIn) => standIn.end(on.open),
  "a connection that was refused after it opened": (standIn) => standIn.end(on.open, { reason: 5, stage: 1 }),
  "a connection with a warden": (standIn) => standIn.end(on.open, { reason: 2 }),
  "EXIT of a connection": (standIn) => standIn.exit(on.open),

  "a listener that opens twice": (standIn) => standIn.say("OPENED", on.ports, opened),
  "a listener that is done": (standIn) => standIn.end(on.ports),
  "output of a listener": (standIn) => standIn.output(on.ports, "x"),
  "a datagram for a listener of connections": (standIn) =>
    standIn.say("DATAGRAM", on.ports, { port: 1, tail: Buffer.from("x") }),
  "a datagram that is too long": (standIn) =>
    standIn.say("DATAGRAM", on.datagrams, { port: 1, tail: Buffer.alloc(4097) }),
  "a connection to a listener of datagrams": (standIn) =>
    standIn.say("ACCEPTED", accepted, { listener: on.datagrams, port: 1 }),
  "a connection to what is no listener": (standIn) =>
    standIn.say("ACCEPTED", accepted, { listener: on.running, port: 1 }),
  "a connection to a listener that there is not": (standIn) =>
    standIn.say("ACCEPTED", accepted, { listener: unknown, port: 1 }),
  "a connection whose number is not the next": (standIn) =>
    standIn.say("ACCEPTED", accepted + 1, { listener: on.ports, port: 1 }),
  "a connection with a number of the host's": (standIn) =>
    standIn.say("ACCEPTED", unknown, { listener: on.ports, port: 1 }),
  "a connection's number twice": (standIn) =>
    [1, 2].map(() => standIn.say("ACCEPTED", accepted, { listener: on.ports, port: 1 })),
  "more connections than there may be streams": (standIn) => {
    for (let count = 0; count < 256; count += 1) {
      standIn.say("ACCEPTED", accepted + count, { listener: on.ports, port: 1 });
    }
  },

  "a file operation that starts": (standIn) => standIn.say("STARTED", on.file, { pid: 1 }),
  "errors of a file operation": (standIn) => standIn.say("ERROR_OUTPUT", on.file, { tail: Buffer.from("x") }),
  "an answer of a file operation after its end": (standIn) => {
    standIn.say("OUTPUT_END", on.file, { channel: 1 });
    standIn.output(on.file, "x");
  },
  "the end of an answer twice": (standIn) => [1, 2].map(() => standIn.say("OUTPUT_END", on.file, { channel: 1 })),
  "the other output's end of a file operation": (standIn) => standIn.say("OUTPUT_END", on.file, { channel: 2 }),
  "a file operation with a warden": (standIn) => standIn.end(on.file, { reason: 2 }),
};

describe("a supervisor that lies", () => {
  it.each(Object.entries(lies))("%s ends the sandbox, and everything that waits for it", async (_, lie) => {
    const { standIn, channel, asked, settled } = await busyChannel();
    lie(standIn, channel);
    await expect.poll(() => channel.isOver).toBe(true);
    const { reason } = await channel.ended;
    await settled;
    expect(reason).toBe("nonsense");
    expect(asked).toHaveLength(1);
    expect(standIn.transport.destroyed).toBe(true);
    await failureOf(channel.ping(), "SANDBOX_LOST");
  });

  it("is not read beyond its first lie", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn(request);
    standIn.raw(
      Buffer.concat([
        encodeFrame("STARTED", { epoch: 7, stream: 1 }, { pid: 1 }),
        encodeFrame("OPENED", { epoch: 7, stream: 1 }, opened),
        encodeFrame("EXIT", { epoch: 7, stream: 1 }, exit),
      ]),
    );
    await channel.ended;
    await failureOf(program.exit, "SANDBOX_LOST");
  });

  it.each([0, 1, 5, 11, 12, 13, 20])("is cut in the middle of a frame, after %d bytes", async (bytes) => {
    const { standIn, channel, asked } = await readyChannel();
    const program = await channel.spawn(request);
    standIn.raw(encodeFrame("STARTED", { epoch: 7, stream: 1 }, { pid: 1 }));
    const last = encodeFrame("ERROR_OUTPUT", { epoch: 7, stream: 1 }, { tail: Buffer.alloc(20) });
    standIn.raw(last.subarray(0, bytes));
    standIn.side.end();
    await failureOf(program.exit, "SANDBOX_LOST");
    const within = bytes === 0 ? "the stream ended" : "the stream ended in the middle of a frame";
    expect(asked).toEqual([{ reason: "cut", detail: within, code: null }]);
  });

  it("says why it ends", async () => {
    const { standIn, channel, asked } = await readyChannel();
    standIn.say("TROUBLE", 0, { code: 67, tail: Buffer.from("a tree\ncould not be ended\u001b[2J") });
    await channel.ended;
    expect(asked).toEqual([{ reason: "trouble", detail: "a tree?could not be ended?[2J", code: 67 }]);
  });

  it.each<[string, (standIn: SupervisorStandIn) => void]>([
    ["PONG", (standIn) => standIn.say("PONG", 0, { nonce: 1n })],
    ["STATS", (standIn) => standIn.say("STATS", 0, stats)],
    ["ACCEPTED", (standIn) => standIn.say("ACCEPTED", accepted, { listener: 1, port: 1 })],
  ])("may say no %s before HELLO", async (_, say) => {
    const { standIn, channel } = openChannel();
    say(standIn);
    expect((await channel.ended).reason).toBe("nonsense");
    await failureOf(channel.hello(), "SANDBOX_LOST");
  });

  it("may say TROUBLE before HELLO", async () => {
    const { standIn, channel } = openChannel();
    standIn.say("TROUBLE", 0, { code: 71, tail: Buffer.from("not pid 1") });
    expect(await channel.ended).toEqual({ reason: "trouble", detail: "not pid 1", code: 71 });
  });
});

describe("an introduction that does not fit", () => {
  it.each<[string, Partial<FrameFields<"HELLO">>]>([
    ["protocol version: ", { version: 2 }],
    ["build: ", { tail: Buffer.from("0123abce") }],
    ["build: ", { tail: nothing }],
    ["build: ", { tail: Buffer.alloc(60_000, "0") }],
    ["mode: ", { mode: 2 }],
    ["architecture: ", { architecture: 2 }],
    ["user: ", { user: 1000 }],
    ["group: ", { group: 1000 }],
    ["capabilities: ", { capabilities: 0xe1n }],
    ["capabilities: ", { capabilities: 0x60n }],
    ["answer to probe 1: ", { probe1: 0 }],
    ["answer to probe 1: ", { probe1: 38 }],
    ["answer to probe 2: ", { probe2: 0xffff_ffff }],
    ["answer to probe 3: ", { probe3: 0 }],
    ["capabilities of programs: ", { probeCapabilities: 1n }],
    ["version of control groups: ", { cgroup: 3 }],
    ["known facts: ", { facts: factBits.SUBREAPER | factBits.FILTER | 0x4000_0000 }],
    ["missing facts: ", { facts: factBits.FILTER }],
    ["missing facts: ", { facts: factBits.SUBREAPER }],
  ])("%s%o", async (fault, instead) => {
    const { standIn, channel, asked } = openChannel();
    const hello = failureOf(channel.hello(), "SANDBOX_LOST");
    standIn.hello(instead);
    await hello;
    expect(asked).toEqual([{ reason: "refused", detail: expect.stringContaining(fault) as unknown, code: null }]);
    expect(asked[0]?.detail.length).toBeLessThan(200);
  });

  it("needs no filter where none was given", async () => {
    const { standIn, channel } = openChannel({ terms: { ...standInTerms, filter: nothing } });
    standIn.hello({ facts: factBits.SUBREAPER });
    expect((await channel.hello()).facts).toEqual(new Set(["SUBREAPER"]));
  });

  it("is awaited for its time and no longer", async () => {
    const { channel } = openChannel({ times: { ...channelTimes, helloMs: 1 } });
    await failureOf(channel.hello(), "SANDBOX_LOST");
    expect(await channel.ended).toMatchObject({ reason: "silent" });
  });
});
