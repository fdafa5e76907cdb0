import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { sendInput } from "../helpers/supervisor/operations.ts";
import { flags, Supervised, type SpawnOptions } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";

describe.skipIf(reason !== undefined)(`terminals ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(() => void sanitizedSupervisor(), 180_000);
  const start = (manualCredit: boolean): Promise<Supervised> =>
    Supervised.start({
      ...{ binary: sanitizedSupervisor(), manualCredit, mounts: ["--ro-bind", hostileProgram(), hostile] },
    });
  beforeEach(async () => {
    subject = await start(false);
  });
  afterEach(async () => subject[Symbol.asyncDispose]());

  const open = (script: string, more: Partial<SpawnOptions> = {}): number =>
    subject.spawn({ command: ["sh", "-c", script], flags: flags.input | flags.terminal, ...more });
  const text = (stream: number): string => subject.record(stream).stdout.toString();
  const says = (stream: number, expected: string): Promise<void> =>
    subject.until(expected, () => text(stream).includes(expected));
  const type = (stream: number, keys: string): void => subject.frame("INPUT", stream, {}, Buffer.from(keys));

  it("are the controlling one, have their size, and hear of a new one", async () => {
    const stream = open("trap 'stty size' WINCH; tty; stty size; echo error >&2; while :; do sleep 0.05; done", {
      ...{ rows: 33, columns: 121 },
    });
    await says(stream, "error");
    expect(text(stream)).toMatch(/^\/dev\/pts\/\d+\r\n33 121\r\nerror\r\n$/);
    subject.frame("RESIZE", stream, { rows: 50, columns: 10 });
    await says(stream, "50 10");
    subject.frame("END_TREE", stream, { graceMs: 0 });
    const { frames, stderr } = await subject.ended(stream);
    expect(stderr.length).toBe(0);
    expect(frames.filter(({ name }) => name === "OUTPUT_END").map(({ fields }) => fields["channel"])).toEqual([1]);
  });

  it("pass keys on: the interrupt ends what is in front, and not the shell", async () => {
    const stream = open("exec sh -i 2>&1", { variables: ["PATH=/usr/bin:/bin", "PS1=go> "] });
    await says(stream, "go> ");
    // What is typed is shown at once; what it prints comes from the program that is in front by then.
    type(stream, "sh -c 'echo in front; exec sleep 1000'\n");
    await says(stream, "in front\r\n");
    type(stream, "\u0003");
    await subject.until("a prompt", () => text(stream).split("go> ").length === 3);
    type(stream, "echo still $((40+2))\n");
    await says(stream, "still 42");
    subject.frame("INPUT_END", stream);
    expect((await subject.ended(stream)).exit?.fields).toMatchObject({ signal: 0 });
  });

  it("that a program has left take no more input, and give back what comes", async () => {
    // The end of the shell hangs up its terminal, maybe before the other program has a session of its own.
    const stream = open("trap '' HUP; (setsid sleep 1000 </dev/null >/dev/null 2>&1 &); echo left");
    await subject.got(stream, "OUTPUT_END");
    await sendInput(subject, stream, Buffer.alloc(500_000, "x"));
    await subject.until("credit", () => subject.record(stream).window > 65_000);
    subject.frame("END_TREE", stream, { graceMs: 0 });
    expect((await subject.ended(stream)).end.fields["reason"]).toBe(numbers["END_DONE"]);
  });

  it("of other programs of the same user cannot be made one's own", async () => {
    const victim = open("tty; cat");
    await says(victim, "/dev/pts/");
    const name = /\/dev\/pts\/\d+/.exec(text(victim))?.[0] ?? "";
    // Taking it as one's own terminal, or typing into it by TIOCSTI, needs to be in its session.
    const script = `import fcntl, os, termios
fd = os.open("${name}", os.O_RDWR | os.O_NOCTTY)
for what, argument in ((termios.TIOCSCTTY, 1), (termios.TIOCSTI, b"x")):
    try:
        fcntl.ioctl(fd, what, argument)
        print("done")
    except OSError as error:
        print("refused")`;
    const { stdout, stderr } = await subject.run({ command: ["sh", "-c", `exec setsid python3 -c '${script}'`] });
    expect([stdout, stderr.includes("not found")]).toEqual(
      stderr.includes("not found") ? ["", true] : ["refused\nrefused\n", false],
    );
  });

  it("are resized, pinged, interrupted and ended while all streams are out of credit", async () => {
    await subject[Symbol.asyncDispose]();
    subject = await start(true);
    const floods = Array.from({ length: 6 }, () => subject.spawn({ command: ["sh", "-c", "yes; yes >&2"] }));
    const terminal = open("trap 'exec sleep 1000' WINCH; stty -echo; while :; do echo flood flood flood flood; done");
    const all = [...floods, terminal];
    const outstanding = (): number =>
      all.reduce((sum, stream) => sum + subject.record(stream).stdout.length + subject.record(stream).stderr.length, 0);
    await subject.until("no credit", () => outstanding() === 1_048_576);
    subject.frame("RESIZE", terminal, { rows: 5, columns: 5 });
    await subject.ping();
    subject.frame("SIGNAL", floods[0]!, { signal: 13, scope: 1 });
    // It has ended, with output that nobody has taken yet.
    expect((await subject.got(floods[0]!, "EXIT")).fields["signal"]).toBe(13);
    expect(subject.has(floods[0]!, "ENDED")).toBeUndefined();
    for (const stream of all) subject.frame("END_TREE", stream, { graceMs: 0 });
    for (const stream of all) {
      subject.frame("CLOSE", stream);
      expect((await subject.ended(stream)).end.fields["reason"]).toBe(numbers["END_DONE"]);
    }
    expect(outstanding()).toBe(1_048_576);
  });

  it("hang up when the host closes them", async () => {
    const stream = open("trap 'exit 9' HUP; echo ready; while :; do sleep 0.05; done");
    await says(stream, "ready");
    subject.frame("CLOSE", stream);
    const { exit } = await subject.ended(stream);
    expect(exit?.fields).toMatchObject({ code: 9 });
  });
});
