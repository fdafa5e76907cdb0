/*
 * Runs pieces of JavaScript one after another, each with the variables of the earlier ones, in Node or Bun.
 *
 * It is started like any program, and then reads jobs in the runner's format from its standard input. Their headers also
 * have a `token`, the call's `name` and the environment `variables` that it has until its end, and their file is a piece that Glovebox has made into one expression with a promise; its last line, a comment, says
 * where it stands in the call's own code. After each job it
 * writes the token between two special characters to both of its output streams, and after that, on standard output only,
 * the length of a report, a newline, and the report: JSON with the exit code, what to show, and the exception that ended the
 * call.
 */
"use strict";

(() => {
  const fs = require("node:fs");
  const { createRequire } = require("node:module");
  const { Readable } = require("node:stream");
  const { inspect } = require("node:util");
  const { pathToFileURL } = require("node:url");
  const vm = require("node:vm");

  const maxShown = 6 * 1024 * 1024;
  /** Characters of an exception's parts; the host takes no more. */
  const maxException = { name: 200, value: 4_000, traceback: 16_000 };
  const maxRows = 100;
  const maxColumns = 20;
  const isBun = process.versions.bun !== undefined;
  const leave = process.exit.bind(process);
  const own = __filename;
  // What a program does with its streams does not affect these.
  const [out, err] = [1, 2].map(openAgain);
  let shown = [];
  /** How many values have been shown. */
  let values = 0;
  let room = maxShown;

  /** Thrown by `process.exit`: the interpreter goes on. */
  class Exit extends Error {
    constructor(code) {
      super("process.exit");
      this.exitCode = code;
    }
  }

  const undefinedValue = { writable: true, configurable: true, enumerable: true, value: undefined };
  const helpers = {
    meta: { url: pathToFileURL(own).href, filename: own, dirname: __dirname, main: true, resolve: require.resolve },
    /** Makes each a plain variable, unless it is one. */
    declare(names) {
      for (const name of names) {
        const known = Object.getOwnPropertyDescriptor(globalThis, name);
        if (known === undefined || (known.configurable && !("value" in known && known.writable)))
          Object.defineProperty(globalThis, name, undefinedValue);
      }
    },
    named(value, name) {
      return Object.defineProperty(value, "name", { value: name, configurable: true });
    },
    load: (specifier, options) => import(specifier, options),
    async import(specifier, names, options) {
      const module = await import(specifier, options);
      for (const [name, local] of names) {
        if (name !== "*" && !(name in module))
          throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
        globalThis[local] = name === "*" ? module : module[name];
      }
    },
  };

  function add(place, mediaType, content) {
    const isText = typeof content === "string";
    // A lone surrogate is not valid text.
    let text = isText ? (content.toWellFormed?.() ?? content) : Buffer.from(content).toString("base64");
    let form = { media_type: mediaType, encoding: isText ? "utf8" : "base64" };
    if (text.length > room) {
      text = `[${mediaType} of ${text.length} characters left out: too long to be shown]`;
      form = { media_type: "text/plain", encoding: "utf8" };
    }
    room -= text.length;
    shown.push({ ...place, ...form, content: text });
  }

  const escaped = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  const html = (value) => String(value).replace(/[&<>]/g, (character) => escaped[character]);

  /** A list of plain objects, which is shown as a table; null for anything else. */
  function tableOf(value) {
    const isRow = (row) => row !== null && typeof row === "object" && Object.getPrototypeOf(row) === Object.prototype;
    if (!Array.isArray(value) || value.length === 0 || value.length > maxRows || !value.every(isRow)) return null;
    const columns = [...new Set(value.flatMap((row) => Object.keys(row)))];
    if (columns.length === 0 || columns.length > maxColumns) return null;
    const cells = (row) =>
      columns.map(
        (name) =>
          `<td>${name in row ? html(typeof row[name] === "object" ? JSON.stringify(row[name]) : row[name]) : ""}</td>`,
      );
    const head = columns.map((name) => `<th>${html(name)}</th>`).join("");
    return `<table><tr>${head}</tr>${value.map((row) => `<tr>${cells(row).join("")}</tr>`).join("")}</table>`;
  }

  function pictureType(value) {
    if (!(value instanceof Uint8Array)) return null;
    const start = Buffer.from(value.subarray(0, 4)).toString("latin1");
    if (start === "\x89PNG") return "image/png";
    return start.startsWith("\xff\xd8\xff") ? "image/jpeg" : null;
  }

  const richTypes = [
    ...["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/latex"],
    "application/json",
  ];

  function jsonOf(content) {
    try {
      return JSON.stringify(content);
    } catch {
      return undefined;
    }
  }

  /** How a value displays itself, by the protocol of JavaScript notebooks. */
  async function bundleOf(value) {
    const method = value !== null && typeof value === "object" ? value[Symbol.for("Jupyter.display")] : undefined;
    const bundle = typeof method === "function" ? await method.call(value) : null;
    return bundle !== null && typeof bundle === "object" ? bundle : {};
  }

  async function show(value, isResult) {
    const place = { value: values, is_result: isResult };
    values += 1;
    const picture = pictureType(value);
    if (picture !== null) return add(place, picture, value);
    const bundle = await bundleOf(value);
    const plain = bundle["text/plain"];
    add(place, "text/plain", typeof plain === "string" ? plain : inspect(value, { depth: 4, breakLength: 100 }));
    for (const type of richTypes) {
      const content = type === "application/json" ? jsonOf(bundle[type]) : bundle[type];
      const isImage = type === "image/png" || type === "image/jpeg";
      if (typeof content === "string") add(place, type, isImage ? Buffer.from(content, "base64") : content);
    }
    const table = tableOf(value);
    if (table !== null) add(place, "text/html", table);
    if (typeof value === "string" && /^\s{0,20}<svg[\s>]/.test(value)) add(place, "image/svg+xml", value);
  }

  /** What the last line of each call says, by the call's name. */
  const places = new Map();

  /** The last of the rows, which are sorted, that begins at the column or before. */
  const rowAt = (rows, column) => rows.findLast(([begin]) => begin <= column);

  /** Line and column in the call's own code; null for what is none of it. */
  function placeOf(name, line, column) {
    const { lines, edits, compiled } = JSON.parse(places.get(name));
    if (line > lines) return null;
    // From 0.
    let at = column - 1;
    const [begin, source, isKept] = rowAt(edits[line] ?? [], at) ?? [0, 0, 1];
    at = isKept ? source + at - begin : source;
    if (compiled === undefined) return [line, at + 1];
    const [, sourceLine, sourceColumn] = rowAt(compiled[line - 1] ?? [], at) ?? [0, line - 1, at];
    return [sourceLine + 1, sourceColumn + 1];
  }

  /** A line of a stack as the call's own code has it; null for one that is not the call's. */
  function ownLine(line) {
    if (line.includes(own) || /node:|internal:|\brunInThisContext \(/.test(line)) return null;
    let isOurs = false;
    const shown = line.replace(/(<call \d+>):(\d+):(\d+)/g, (all, name, ...numbers) => {
      if (!places.has(name)) return all;
      const place = placeOf(name, Number(numbers[0]), Number(numbers[1]));
      if (place === null) isOurs = true;
      return place === null ? all : `${name}:${place.join(":")}`;
    });
    return isOurs ? null : shown;
  }

  const isError = (error) => error !== null && typeof error === "object" && typeof error.stack === "string";

  function wordsOf(error) {
    if (!isError(error)) return `Uncaught ${inspect(error)}`;
    // Bun's import errors have a different name.
    if (/^Cannot find (?:package|module) /.test(error.message) && isBun) return `error: ${error.message}`;
    const lines = inspect(error).split("\n");
    return lines
      .map((line) => (/^\s+at /.test(line) ? ownLine(line) : line))
      .filter((line) => line !== null)
      .join("\n");
  }

  function writeAll(descriptor, bytes) {
    let offset = 0;
    while (offset < bytes.length) {
      try {
        offset += fs.writeSync(descriptor, bytes, offset);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
  }

  /** Another descriptor of the same stream, if the system lets it be opened by name; else that one. */
  function openAgain(descriptor) {
    try {
      return fs.openSync(`/proc/self/fd/${descriptor}`, "w");
    } catch {
      return descriptor;
    }
  }

  function identify(descriptor) {
    try {
      const { dev, ino } = fs.fstatSync(descriptor);
      return `${dev} ${ino}`;
    } catch {
      return null;
    }
  }

  /** A descriptor gets the lowest number that is free: the three are made good in their order. */
  function restoreDescriptor(descriptor, identity, open) {
    const now = identify(descriptor);
    if (now === identity) return;
    if (now !== null) fs.closeSync(descriptor);
    open();
  }

  /** A standard stream that a call can give another shape, but not end. */
  function keepStream(name, descriptor, kept) {
    const stream = process[name];
    const { write } = stream;
    /** Does for its caller what ending it would, apart from the end. */
    function end(...given) {
      const done = typeof given.at(-1) === "function" ? given.pop() : undefined;
      if (given[0] !== undefined && given[0] !== null) write.apply(stream, given);
      write.call(stream, "", () => {
        stream.emit("finish");
        done?.();
      });
      return stream;
    }
    const identity = identify(kept);
    const own = { write, end, destroy: () => stream, destroySoon: () => stream };
    return () => {
      restoreDescriptor(descriptor, identity, () => openAgain(kept));
      for (const [key, value] of Object.entries(own))
        Object.defineProperty(stream, key, { value, configurable: true, writable: true });
      Object.defineProperty(process, name, { value: stream, configurable: true, writable: true, enumerable: true });
    };
  }

  function keepInput() {
    const identity = identify(0);
    return () => {
      restoreDescriptor(0, identity, () => fs.openSync("/dev/null", "r"));
      Object.defineProperty(process, "stdin", { value: Readable.from([]), configurable: true, writable: true });
    };
  }

  const flush = (stream) => new Promise((resolve) => stream.write("", () => resolve()));

  /** A part of an error, of which the program decides everything; of a long one without its middle. */
  function readPart(read, otherwise, most) {
    let text;
    try {
      text = String(read());
    } catch {
      text = otherwise;
    }
    if (text.length <= most) return text;
    const half = most / 2 - 25;
    return `${text.slice(0, half)}\n[... ${text.length - 2 * half} characters left out ...]\n${text.slice(-half)}`;
  }

  const kindOf = (value) => (value === null ? "null" : typeof value);

  /** Shows it on standard error; returns it as data. */
  function tell(error) {
    const name = readPart(() => (isError(error) ? error.name : kindOf(error)), "Error", maxException.name);
    const value = readPart(() => (isError(error) ? error.message : inspect(error)), "", maxException.value);
    const words = readPart(() => wordsOf(error), name, Infinity);
    writeAll(err, Buffer.from(`${words}\n`));
    return { name, value, traceback: readPart(() => words, name, maxException.traceback) };
  }

  const endOf = (error) =>
    error instanceof Exit ? { exitCode: error.exitCode, exception: null } : { exitCode: 1, exception: tell(error) };

  /** Ends the current call; null between calls. */
  let fail = null;
  /** Without a listener an interrupt ends the interpreter, between calls too. */
  const onInterrupt = () => fail?.(Object.assign(new Error("The call was interrupted."), { name: "Interrupted" }));
  const onError = (error) => (fail === null ? void endOf(error) : fail(error));

  /** Sets those of one call; returns what gives back what was there, also in a copy that the call has put in its place. */
  function setVariables(variables) {
    const environment = process.env;
    const before = Object.keys(variables).map((name) => [name, environment[name]]);
    Object.assign(environment, variables);
    return () => {
      for (const target of new Set([environment, process.env])) {
        for (const [name, value] of before) {
          if (value === undefined) delete target[name];
          else target[name] = value;
        }
      }
    };
  }

  /** Whether the interpreter has been in the folder where it begins. */
  let hasEntered = false;

  function enter(folder) {
    if (hasEntered || folder === "") return;
    process.chdir(folder);
    hasEntered = true;
  }

  async function run(header, code, name) {
    for (const [key, value] of Object.entries(header.environment)) process.env[key] = value;
    const restoreVariables = setVariables(header.variables);
    process.argv = [process.execPath, own, ...header.arguments];
    // In Bun, undefined would leave what an earlier call has set.
    process.exitCode = 0;
    const failed = new Promise((_, reject) => (fail = reject));
    try {
      enter(header.working_directory);
      const value = await Promise.race([vm.runInThisContext(code, { filename: name }), failed]);
      if (value !== undefined) {
        globalThis._ = value;
        await Promise.race([show(value, true), failed]);
      }
      return { exitCode: Number(process.exitCode ?? 0) & 0xff, exception: null };
    } catch (error) {
      return endOf(error);
    } finally {
      fail = null;
      restoreVariables();
    }
  }

  async function answer(header, code) {
    shown = [];
    values = 0;
    room = maxShown;
    for (const restore of restoreStreams) restore();
    process.off("SIGINT", onInterrupt).on("SIGINT", onInterrupt);
    const { exitCode, exception } = await run(header, code, header.name);
    for (const restore of restoreStreams) restore();
    await Promise.all([flush(process.stdout), flush(process.stderr)]);
    const mark = Buffer.from(`\x1e${header.token}\x1e`);
    const report = Buffer.from(JSON.stringify({ exit_code: exitCode, displays: shown.slice(0, 200), exception }));
    writeAll(err, mark);
    writeAll(out, Buffer.concat([mark, Buffer.from(`${report.length}\n`), report]));
  }

  /** The stream of jobs, which programs do not see as their standard input if that can be reopened. */
  function takeInput() {
    let descriptor;
    try {
      descriptor = fs.openSync("/proc/self/fd/0", "r");
    } catch {
      return process.stdin;
    }
    fs.closeSync(0);
    // It gets the lowest number that is free.
    fs.openSync("/dev/null", "r");
    return fs.createReadStream("", { fd: descriptor });
  }

  const input = takeInput();
  // The console remembers the streams that it sees first.
  for (const name of ["_stdout", "_stderr"]) Reflect.get(console, name);
  const restoreStreams = [keepInput(), keepStream("stdout", 1, out), keepStream("stderr", 2, err)];
  process.exit = (code) => {
    throw new Exit(Number(code ?? process.exitCode ?? 0) & 0xff);
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  Object.defineProperty(globalThis, "__glovebox", { value: Object.freeze(helpers) });
  const globals = {
    require: createRequire(own),
    module: { exports: {} },
    exports: {},
    __filename: own,
    __dirname,
    display: async (...given) => {
      for (const value of given) await show(value, false);
    },
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { ...undefinedValue, value });

  let held = Buffer.alloc(0);
  let isBusy = false;
  async function take() {
    if (isBusy) return;
    isBusy = true;
    for (;;) {
      const lineEnd = held.indexOf(0x0a);
      if (lineEnd === -1) break;
      const headerEnd = lineEnd + 1 + Number(held.subarray(0, lineEnd).toString("latin1"));
      if (held.length < headerEnd) break;
      const header = JSON.parse(held.subarray(lineEnd + 1, headerEnd).toString("utf8"));
      const end = header.files.reduce((sum, { size }) => sum + size, headerEnd);
      if (held.length < end) break;
      const bytes = held.subarray(headerEnd, end);
      const code = bytes.toString("utf8");
      const said = bytes.subarray(bytes.lastIndexOf("\n//") + 3).toString("utf8");
      if (said !== "") places.set(header.name, said);
      held = held.subarray(end);
      await answer(header, code);
    }
    isBusy = false;
  }
  /** What cannot be read, or answered, is no reason to wait for a call's time limit. */
  function giveUp(error) {
    try {
      writeAll(err, Buffer.from(`The interpreter of this session cannot go on: ${error}\n`));
    } finally {
      leave(1);
    }
  }

  input.on("data", (bytes) => {
    held = Buffer.concat([held, bytes]);
    take().catch(giveUp);
  });
  input.on("end", () => leave(0));
})();
