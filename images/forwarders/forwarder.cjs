/*
 * The sandbox's end of its network: carries connections on loopback over standard input and output. For Node and Bun.
 *
 * Outwards it listens on 127.0.0.1 at the port in the first argument (0: it does not listen); Glovebox's egress proxy at
 * the other end of standard output alone decides what can be reached; nothing here is trusted. Inwards it connects to
 * the port that an open frame names, and answers open or reset.
 * Input begins with a length (4 bytes, big-endian) and a file of certificates, saved at the path in the second argument;
 * then both directions carry frames: type (1 byte), connection (4), length (4), payload. Types: 0 hello, 1 open, 2 data,
 * 3 end, 4 reset, 5 credit.
 */
"use strict";

const fs = require("node:fs");
const net = require("node:net");

const [hello, open, data, end, reset, credit] = [0, 1, 2, 3, 4, 5];
const firstCredit = 262144;
const creditPortion = 65536;
const piece = 32768;
const mostConnections = 64;
const headerBytes = 9;
const [port, certificateFile] = process.argv.slice(-2);

const connections = new Map();
const dialled = new Map();
const waiting = [];
let newest = 0;

function send(kind, number, payload = Buffer.alloc(0)) {
  const frame = Buffer.alloc(headerBytes + payload.length);
  frame.writeUInt8(kind, 0);
  frame.writeUInt32BE(number, 1);
  frame.writeUInt32BE(payload.length, 5);
  payload.copy(frame, headerBytes);
  return process.stdout.write(frame);
}

/** Sends what was read as far as the credit allows, and reads on when all of it is sent and the channel accepts more. */
function pump(connection) {
  const { number, stream } = connection;
  while (connection.held.length > 0 && connection.credit > 0) {
    const bytes = connection.held.subarray(0, Math.min(piece, connection.credit));
    connection.held = connection.held.subarray(bytes.length);
    connection.credit -= bytes.length;
    send(data, number, bytes);
  }
  if (connection.held.length > 0) return void stream.pause();
  if (connection.hasEnded && !connection.endSent) {
    connection.endSent = true;
    send(end, number);
  }
  if (connection.credit > 0 && !process.stdout.writableNeedDrain) stream.resume();
  else stream.pause();
}

function serve(stream) {
  if (connections.size >= mostConnections) waiting.push(stream.pause());
  else begin(++newest, stream);
}

function begin(number, stream) {
  const connection = {
    number,
    stream,
    credit: firstCredit,
    consumed: 0,
    held: Buffer.alloc(0),
    hasEnded: false,
    endSent: false,
    isOver: false,
  };
  connections.set(number, connection);
  stream.setNoDelay(true);
  send(open, number);
  stream.on("data", (bytes) => {
    connection.held = connection.held.length === 0 ? bytes : Buffer.concat([connection.held, bytes]);
    pump(connection);
  });
  stream.on("end", () => {
    connection.hasEnded = true;
    pump(connection);
  });
  stream.on("error", () => {
    if (!connection.isOver) send(reset, number);
    connection.isOver = true;
  });
  stream.on("close", () => {
    connections.delete(number);
    const next = waiting.shift();
    if (next !== undefined) serve(next);
  });
}

/** Servers that listen on `localhost` may be at either address. */
function dial(number, port, hosts = ["127.0.0.1", "::1"]) {
  const [host, ...others] = hosts;
  if (host === undefined) return void send(reset, number);
  const stream = net.connect({ host, port, allowHalfOpen: true });
  const again = () => {
    dialled.delete(number);
    dial(number, port, others);
  };
  dialled.set(number, stream);
  stream.once("error", again);
  stream.once("connect", () => {
    // A connection to a free port may come from that very port: the kernel then joins its two ends.
    if (stream.localPort === stream.remotePort) return void stream.destroy(new Error("nobody listens"));
    dialled.delete(number);
    stream.off("error", again);
    begin(number, stream);
  });
}

function receive(kind, number, payload) {
  if (kind === open) return dial(number, payload.readUInt16BE(0));
  const connection = connections.get(number);
  if (connection === undefined) {
    // Only a reset comes before the answer.
    dialled
      .get(number)
      ?.removeAllListeners()
      .on("error", () => undefined)
      .destroy();
    return void dialled.delete(number);
  }
  const { stream } = connection;
  if (kind === data) {
    stream.write(payload, () => {
      connection.consumed += payload.length;
      if (connection.consumed < creditPortion) return;
      const grant = Buffer.alloc(4);
      grant.writeUInt32BE(connection.consumed);
      connection.consumed = 0;
      send(credit, number, grant);
    });
  } else if (kind === end) stream.end();
  else if (kind === reset) {
    connection.isOver = true;
    if (stream.resetAndDestroy) stream.resetAndDestroy();
    else stream.destroy();
  } else if (kind === credit) {
    connection.credit += payload.readUInt32BE(0);
    pump(connection);
  }
}

let input = Buffer.alloc(0);
let isServing = false;

process.stdin.on("data", (bytes) => {
  input = Buffer.concat([input, bytes]);
  if (!isServing) {
    if (input.length < 4 || input.length < 4 + input.readUInt32BE(0)) return;
    const size = input.readUInt32BE(0);
    // The file of the previous run, if the sandbox had one.
    fs.rmSync(certificateFile, { force: true });
    if (size > 0) fs.writeFileSync(certificateFile, input.subarray(4, 4 + size), { mode: 0o444, flag: "wx" });
    input = input.subarray(4 + size);
    isServing = true;
    const server = net.createServer({ allowHalfOpen: true }, serve);
    if (port === "0") send(hello, 0);
    else server.listen(Number(port), "127.0.0.1", () => send(hello, 0));
  }
  while (input.length >= headerBytes) {
    const size = input.readUInt32BE(5);
    if (input.length < headerBytes + size) break;
    receive(input.readUInt8(0), input.readUInt32BE(1), input.subarray(headerBytes, headerBytes + size));
    input = input.subarray(headerBytes + size);
  }
});
process.stdin.on("end", () => process.exit(0));
process.stdout.on("drain", () => connections.forEach(pump));
