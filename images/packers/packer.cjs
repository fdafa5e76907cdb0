/*
 * Writes the packages below a folder to standard output, so that they can be kept.
 *
 * First comes a line of JSON with the name and version of each package in the folder; then, for each file, a line of JSON
 * with its path, its size and whether it is executable, and its bytes; then a last line with the number of files. Links
 * to files in the folder become files; links to folders, and what is neither file nor folder, are left out.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const pieceBytes = 1024 * 1024;
const root = fs.realpathSync(process.argv[process.argv.length - 1]);
let files = 0;

function write(bytes) {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += fs.writeSync(1, bytes, offset);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function writeLine(value) {
  write(Buffer.from(`${JSON.stringify(value)}\n`));
}

function foldersOf(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map((entry) => entry.name);
}

function packages() {
  return foldersOf(root)
    .flatMap((name) =>
      name.startsWith("@") ? foldersOf(path.join(root, name)).map((own) => `${name}/${own}`) : [name],
    )
    .flatMap((name) => {
      try {
        const { version } = JSON.parse(fs.readFileSync(path.join(root, name, "package.json"), "utf8"));
        return typeof version === "string" ? [[name, version]] : [];
      } catch {
        // A folder that is not a package.
        return [];
      }
    });
}

function writeFile(file, relative) {
  const descriptor = fs.openSync(file, "r");
  try {
    const { size, mode } = fs.fstatSync(descriptor);
    writeLine({ path: relative, size, executable: (mode & 0o111) !== 0 });
    const piece = Buffer.allocUnsafe(Math.min(size, pieceBytes));
    for (let left = size; left > 0;) {
      const count = fs.readSync(descriptor, piece, 0, Math.min(left, piece.length), null);
      if (count === 0) throw new Error(`${relative} became shorter`);
      write(piece.subarray(0, count));
      left -= count;
    }
    files += 1;
  } finally {
    fs.closeSync(descriptor);
  }
}

function isFileOfOurs(link) {
  try {
    const target = fs.realpathSync(link);
    return target.startsWith(root + path.sep) && fs.statSync(target).isFile();
  } catch {
    // A broken link.
    return false;
  }
}

function walk(folder, prefix) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    const relative = `${prefix}${entry.name}`;
    if (entry.isDirectory()) walk(file, `${relative}/`);
    else if (entry.isFile() || (entry.isSymbolicLink() && isFileOfOurs(file))) writeFile(file, relative);
  }
}

writeLine({ packages: packages() });
walk(root, "");
writeLine({ files });
