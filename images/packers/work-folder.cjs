/*
 * Packs a folder to standard output, or fills one from standard input: `pack FOLDER`, `unpack FOLDER`. For places without
 * a shell and tar.
 *
 * A line of JSON for each folder and file, folders before what is in them, with the path, the mode and, for files, the
 * size; after a file's line its bytes. Unpacking begins after the first line of the input, or does nothing without one.
 * What is neither file nor folder makes packing fail: nothing is left out in silence.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const pieceBytes = 1024 * 1024;
const [verb, root] = process.argv.slice(-2);

function retried(work) {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function write(bytes) {
  for (let offset = 0; offset < bytes.length;) offset += retried(() => fs.writeSync(1, bytes, offset));
}

function packFile(file, entry) {
  write(Buffer.from(`${JSON.stringify(entry)}\n`));
  const descriptor = fs.openSync(file, "r");
  const piece = Buffer.allocUnsafe(Math.min(entry.size, pieceBytes));
  for (let left = entry.size; left > 0;) {
    const count = fs.readSync(descriptor, piece, 0, Math.min(left, piece.length), null);
    if (count === 0) throw new Error(`${entry.path} became shorter`);
    write(piece.subarray(0, count));
    left -= count;
  }
  fs.closeSync(descriptor);
}

function pack(folder, prefix) {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const status = fs.lstatSync(file);
    const entry = { path: `${prefix}${name}`, mode: status.mode & 0o777 };
    if (status.isDirectory()) {
      write(Buffer.from(`${JSON.stringify({ ...entry, folder: true })}\n`));
      pack(file, `${entry.path}/`);
    } else if (status.isFile()) packFile(file, { ...entry, size: status.size });
    else throw new Error(`${entry.path} is neither a file nor a folder`);
  }
}

let held = Buffer.alloc(0);

/** The next bytes, at most so many; null at the end. */
function some(most) {
  if (held.length === 0) {
    const piece = Buffer.allocUnsafe(pieceBytes);
    held = piece.subarray(
      0,
      retried(() => fs.readSync(0, piece, 0, piece.length, null)),
    );
    if (held.length === 0) return null;
  }
  const taken = held.subarray(0, most);
  held = held.subarray(taken.length);
  return taken;
}

function line() {
  const pieces = [];
  for (;;) {
    const piece = some(Number.POSITIVE_INFINITY);
    if (piece === null) return null;
    const end = piece.indexOf(10);
    pieces.push(end < 0 ? piece : piece.subarray(0, end));
    if (end < 0) continue;
    held = Buffer.concat([piece.subarray(end + 1), held]);
    return Buffer.concat(pieces).toString("utf8");
  }
}

function unpack() {
  if (line() === null) return;
  const modes = [];
  for (let text = line(); text !== null; text = line()) {
    const entry = JSON.parse(text);
    const target = path.join(root, entry.path);
    modes.push([target, entry.mode]);
    if (entry.folder) {
      fs.mkdirSync(target);
      continue;
    }
    const descriptor = fs.openSync(target, "wx", 0o600);
    for (let left = entry.size; left > 0;) {
      const piece = some(left);
      if (piece === null) throw new Error("the input ended too early");
      for (let offset = 0; offset < piece.length;) offset += fs.writeSync(descriptor, piece, offset);
      left -= piece.length;
    }
    fs.closeSync(descriptor);
  }
  // From the inside out: a folder may be closed to its own user.
  for (const [target, mode] of modes.toReversed()) fs.chmodSync(target, mode);
}

try {
  if (verb === "pack") pack(root, "");
  else unpack();
} catch (error) {
  fs.writeSync(2, `${error.message}\n`);
  process.exitCode = 1;
}
