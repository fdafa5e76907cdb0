/*
 * Receives a job over standard input, then lets Node run the job's main file by itself.
 *
 * The shell that starts the interpreter saves this text as a file and starts `node --require FILE /work/main.js`. Node
 * loads it before it looks for the main file: the start is held up here until the job has arrived. From then on
 * Node does everything itself. `--require` and not `--import`: after an `--import`, Node runs a CommonJS main file
 * from a promise, which changes the order of its ticks and microtasks.
 *
 * Standard input carries: the length of the header in decimal and a newline, the header (JSON: version, main, arguments,
 * environment, files, compiled, data, folder, working_directory, untrusted, empties), the bytes of the files, of the compiled
 * files and of the data one after another, and then the standard input of the program.
 *
 * It starts in this file's folder and changes to the working folder once the job is there, because Node remembers where
 * it found no package.json.
 *
 * TypeScript files keep their text; hooks give Node their compiled form instead. Workers and forked children, which load
 * this file again and install only the hooks, find that form in a folder next to this file. Under Node's permission
 * model neither exists, and nothing is written.
 */
"use strict";

(() => {
  const fs = require("node:fs");
  const path = require("node:path");

  const runnerFailed = 125;
  const version = 1;
  /** Files may be larger than the program's memory. */
  const pieceBytes = 1 << 20;
  const compiledFolder = path.join(__dirname, "compiled");
  /** Whether the program can start others that load this file. */
  const hasChildren = process.permission === undefined;
  /** The compiled form of the job's TypeScript files, by path. */
  const compiledTexts = new Map();

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

  function targetOf(folder, file) {
    const parts = file.path.split("/");
    if (parts.some((part) => part === "" || part === "." || part === "..")) {
      throw new Error("a file's path leaves the working folder");
    }
    return path.join(folder, ...parts);
  }

  function* readPieces(size) {
    for (let left = size; left > 0; left -= pieceBytes) yield readAll(Math.min(left, pieceBytes));
  }

  function writeFile(target, pieces) {
    fs.mkdirSync(path.dirname(target), { recursive: true });
    // Node's permission model has no fchmod.
    const usual = process.umask(0);
    const descriptor = fs.openSync(target, "wx", 0o444);
    process.umask(usual);
    try {
      for (const piece of pieces) fs.writeFileSync(descriptor, piece);
    } finally {
      fs.closeSync(descriptor);
    }
  }

  function receiveJob() {
    const header = readHeader();
    fs.mkdirSync(header.folder, { recursive: true });
    if (header.empties) for (const name of fs.readdirSync(header.folder)) remove(path.join(header.folder, name));
    for (const file of header.files) writeFile(targetOf(header.folder, file), readPieces(file.size));
    for (const file of header.compiled) {
      const target = targetOf(header.folder, file);
      const bytes = readAll(file.size);
      compiledTexts.set(target, bytes.toString("utf8"));
      if (hasChildren) writeFile(path.join(compiledFolder, target), [bytes]);
    }
    for (const file of header.data) writeFile(targetOf(header.folder, file), readPieces(file.size));
    for (const [name, value] of Object.entries(header.environment)) process.env[name] = value;
    for (const argument of header.arguments) process.argv.push(argument);
    process.chdir(header.working_directory || header.folder);
  }

  /** The compiled text of a TypeScript file; null for any other file. */
  function compiledText(url) {
    if (!url.startsWith("file:") || !/\.[cm]?tsx?$/.test(url)) return null;
    const file = require("node:url").fileURLToPath(url);
    const kept = compiledTexts.get(file);
    if (kept !== undefined || !hasChildren) return kept ?? null;
    try {
      return fs.readFileSync(path.join(compiledFolder, file), "utf8");
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** Node's own rule for a file that does not state its format: what does not compile as CommonJS is a module. */
  function formatOf(url, format, text) {
    if (format === "module-typescript" || url.endsWith(".mts")) return "module";
    if (url.endsWith(".cts")) return "commonjs";
    try {
      require("node:vm").compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"]);
      return "commonjs";
    } catch {
      return "module";
    }
  }

  /** File extensions that TypeScript lets an import leave out or write as those of the output. */
  function otherNames(specifier) {
    if (!/^(\.{1,2}(\/|$)|\/|file:)/.test(specifier)) return [];
    const replaced = specifier.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
    const endings = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js"];
    const added = endings.map((ending) => specifier.replace(/\/$/, "") + ending);
    return replaced === specifier ? added : [replaced, ...added];
  }

  function resolveAny(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      for (const name of otherNames(specifier)) {
        try {
          return next(name, context);
        } catch {
          // The first error contains the name that the program wrote.
        }
      }
      throw error;
    }
  }

  function installHooks() {
    process.setSourceMapsEnabled(true);
    require("node:module").registerHooks({
      resolve(specifier, context, next) {
        const resolved = resolveAny(specifier, context, next);
        // TypeScript and Bun import JSON without `with { type: "json" }`.
        if (!resolved.url.endsWith(".json") || resolved.importAttributes?.type !== undefined) return resolved;
        return { ...resolved, importAttributes: { ...resolved.importAttributes, type: "json" } };
      },
      load(url, context, next) {
        const text = compiledText(url);
        if (text === null) return next(url, context);
        return { source: text, format: formatOf(url, context.format, text), shortCircuit: true };
      },
    });
  }

  const { isMainThread } = require("node:worker_threads");
  const isChildOfTypeScript = hasChildren && fs.existsSync(compiledFolder);
  if (isMainThread && !isChildOfTypeScript) {
    try {
      receiveJob();
    } catch (error) {
      fs.writeSync(2, `glovebox runner: ${error.message}\n`);
      process.exit(runnerFailed);
    }
  }
  delete require.cache[__filename];
  // With TypeScript the option stays, so that a forked child also finds its compiled files.
  if (isChildOfTypeScript || compiledTexts.size > 0) installHooks();
  else process.execArgv.length = 0;
})();
