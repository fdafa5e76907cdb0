/*
 * Receives a job over standard input, then becomes `bun /work/main.ts`.
 *
 * Started as `bun -e TEXT`. A preload would not work: after one, Bun runs a CommonJS main file from a promise, which changes
 * the order of its ticks and microtasks; it would also have read the working folder while that was empty.
 *
 * Standard input carries: the length of the header in decimal and a newline, the header (JSON: version, main, arguments,
 * environment, files, data, folder, working_directory, untrusted, empties), the bytes of the files and then of the data one after
 * another, and then the standard input of the program.
 */
import fs from "node:fs";
import path from "node:path";

const runnerFailed = 125;
const version = 1;
/** Files may be larger than the program's memory. */
const pieceBytes = 1 << 20;

/** Exactly the next `size` bytes of standard input; null at its end. */
function read(size) {
  const bytes = Buffer.alloc(size);
  for (let offset = 0; offset < size;) {
    let count;
    try {
      count = fs.readSync(0, bytes, offset, size - offset, null);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (count === 0) return null;
    offset += count;
  }
  return bytes;
}

function readAll(size) {
  const bytes = read(size);
  if (bytes === null) throw new Error("standard input ended inside the job");
  return bytes;
}

function readHeader() {
  let digits = "";
  for (;;) {
    const character = read(1)?.toString("latin1");
    // There is nothing to run.
    if (character === undefined && digits === "") process.exit(0);
    if (character === "\n") break;
    digits += character;
    if (!/^\d{1,9}$/.test(digits)) throw new Error("the job does not begin with the length of its header");
  }
  const header = JSON.parse(readAll(Number(digits)).toString("utf8"));
  if (header.version !== version) throw new Error("unknown version of the job");
  return header;
}

/** Removes what an earlier program of the same user left there, whatever its permissions. */
function remove(target) {
  if (fs.lstatSync(target).isDirectory()) {
    fs.chmodSync(target, 0o700);
    for (const name of fs.readdirSync(target)) remove(path.join(target, name));
    fs.rmdirSync(target);
  } else fs.unlinkSync(target);
}

function writeFile(folder, file) {
  const parts = file.path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new Error("a file's path leaves the working folder");
  }
  const target = path.join(folder, ...parts);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const descriptor = fs.openSync(target, "wx", 0o444);
  try {
    fs.fchmodSync(descriptor, 0o444);
    for (let left = file.size; left > 0; left -= pieceBytes) {
      fs.writeFileSync(descriptor, readAll(Math.min(left, pieceBytes)));
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

try {
  const header = readHeader();
  fs.mkdirSync(header.folder, { recursive: true });
  if (header.empties) for (const name of fs.readdirSync(header.folder)) remove(path.join(header.folder, name));
  for (const file of [...header.files, ...header.data]) writeFile(header.folder, file);
  const main = path.join(header.folder, header.main);
  if (header.working_directory !== "") process.chdir(header.working_directory);
  // Without --no-install, a missing package would end in a failed look-up of the registry's name.
  const environment = { ...process.env, ...header.environment };
  // bunfig.toml of the folder or of the home can name code that runs first, and .env sets variables.
  const own = header.untrusted.length > 0 ? ["--config=/dev/null", "--no-env-file"] : [];
  process.execve(process.execPath, [process.argv0, "--no-install", ...own, main, ...header.arguments], environment);
} catch (error) {
  fs.writeSync(2, `glovebox runner: ${error.message}\n`);
  process.exit(runnerFailed);
}
