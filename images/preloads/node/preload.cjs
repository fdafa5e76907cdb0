/*
 * Guards a program at isolation level `preload`: refuses forbidden actions from inside the program's own interpreter.
 *
 * The engine starts Node with its permission model (`--permission`), which refuses files outside the program's folders,
 * other processes, workers, native addons, WASI and the inspector, in native code. It does not restrict the network
 * before Node 25, nor signals: those are refused here, before any of the program's code runs, at the few places through
 * which everything reaches the network. It is interception, not a wall: see docs/threat-model.md.
 *
 * GLOVEBOX_PRELOAD holds the settings in JSON: `runner`, the text of a runner that takes the job before the program
 * starts, or the empty string.
 */
"use strict";

(() => {
  const Module = require("node:module");
  const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const settings = JSON.parse(process.env.GLOVEBOX_PRELOAD);
  delete process.env.GLOVEBOX_PRELOAD;

  const reasons = {
    network:
      "network is not available to a program at isolation level preload; give it its data as context files or standard input",
    process:
      "starting other processes is not allowed to a program at isolation level preload; do the work in the program itself",
    worker: "workers are not available to a program at isolation level preload; do the work in the main thread",
    signal:
      "signals to other processes are not allowed to a program at isolation level preload; signal only process.pid",
    native: "native code (addons, FFI) is not available to a program at isolation level preload; use JavaScript alone",
    engine:
      "changing the interpreter's own settings is not allowed to a program at isolation level preload; leave it out",
    database: "node:sqlite is not available to a program at isolation level preload; use files",
  };

  /** Programs see this code if there is no network at all; the other one is that of Node's permission model. */
  const codes = { network: "ENETUNREACH" };

  function denied(reason) {
    const error = new Error(`glovebox: ${reasons[reason]}`);
    defineProperty(error, "code", { value: codes[reason] ?? "ERR_ACCESS_DENIED", enumerable: true });
    return error;
  }

  function replace(owner, name, value) {
    const { enumerable = true } = getOwnPropertyDescriptor(owner, name) ?? {};
    defineProperty(owner, name, { value, enumerable, writable: true, configurable: true });
  }

  /** Functions whose callers see an exception. */
  function throwing(reason, name) {
    const refused = function () {
      throw denied(reason);
    };
    return defineProperty(refused, "name", { value: name }) && refused;
  }

  /** Functions that return a promise. */
  function rejecting(reason, name) {
    const refused = () => Promise.reject(denied(reason));
    return defineProperty(refused, "name", { value: name }) && refused;
  }

  /** Functions whose last argument is a callback. */
  function answering(reason, name) {
    const refused = (...values) => {
      const callback = values[values.length - 1];
      if (typeof callback !== "function") throw denied(reason);
      process.nextTick(callback, denied(reason));
      return {};
    };
    return defineProperty(refused, "name", { value: name }) && refused;
  }

  /** The class still works with `instanceof` and `extends`, but cannot be instantiated. */
  function closeClass(owner, name, reason) {
    const original = owner[name];
    if (typeof original !== "function") return;
    const refuse = () => {
      throw denied(reason);
    };
    const closed = new Proxy(original, { apply: refuse, construct: refuse });
    replace(original.prototype, "constructor", closed);
    replace(owner, name, closed);
  }

  function close(owner, reason, names, make = throwing) {
    for (const name of names.split(" "))
      if (typeof owner[name] === "function") replace(owner, name, make(reason, name));
  }

  function closeAll(owner, reason, make = throwing) {
    for (const name of ownKeys(owner)) if (typeof owner[name] === "function") replace(owner, name, make(reason, name));
  }

  /**
   * Everything over TCP, TLS, HTTP and local sockets passes through here, and fails the way a connection fails. Higher-level
   * modules are not loaded for it: `tls` alone takes as long as the rest of the guard.
   */
  function closeSockets() {
    const net = require("node:net");
    const { destroy } = net.Socket.prototype;
    const { emit } = require("node:events").prototype;
    const later = setImmediate;
    /** Fails as if there were no route: a moment later, once callers listen for errors; writes wait until then. */
    const failed = (socket) => {
      const error = denied("network");
      socket.connecting = true;
      later(() => apply(destroy, socket, [error]));
      return socket;
    };
    replace(net.Socket.prototype, "connect", function connect() {
      return failed(this);
    });
    for (const name of ["listen", "_listen2"]) {
      replace(net.Server.prototype, name, function listen() {
        process.nextTick(() => apply(emit, this, ["error", denied("network")]));
        return this;
      });
    }
    close(net, "network", "_createServerHandle");
    const dgram = require("node:dgram");
    close(dgram, "network", "createSocket _createSocketHandle");
    closeClass(dgram, "Socket", "network");
    for (const name of ["fetch", "WebSocket", "EventSource"]) {
      const make = name === "fetch" ? rejecting : throwing;
      // Assigned, not defined, which would load the original: that takes as long as Node's whole start.
      if (name in globalThis) globalThis[name] = make("network", name);
    }
  }

  function closeNames() {
    const dns = require("node:dns");
    const names = ownKeys(dns).filter((name) => /^(lookup|resolve|reverse)/.test(String(name)));
    for (const name of names) {
      replace(dns, name, answering("network", name));
      if (name in dns.promises) replace(dns.promises, name, rejecting("network", name));
    }
    closeClass(dns, "Resolver", "network");
    closeClass(dns.promises, "Resolver", "network");
  }

  /** Node itself refuses these; here the program is told why. */
  function explainPermissions() {
    closeAll(require("node:child_process"), "process");
    close(require("node:cluster"), "process", "fork setupPrimary setupMaster");
    closeClass(require("node:worker_threads"), "Worker", "worker");
    close(process, "native", "dlopen binding _linkedBinding");
    close(process, "process", "execve");
  }

  /** All signals go through `_kill`. On SIGUSR1, Node starts its inspector, which listens on a port. */
  function closeSignals() {
    const { _kill, pid } = process;
    const { constants } = require("node:os");
    const inspectorSignal = constants.signals.SIGUSR1;
    replace(process, "_kill", function (target, signal) {
      const wanted = +target;
      if (wanted !== pid || (signal === inspectorSignal && signal !== undefined)) throw denied("signal");
      return apply(_kill, process, [wanted, signal]);
    });
    close(process, "signal", "_debugProcess _debugEnd");
    const os = require("node:os");
    const { setPriority } = os;
    replace(os, "setPriority", function (...values) {
      if (values.length > 1 && values[0] !== 0 && values[0] !== pid) throw denied("signal");
      return apply(setPriority, os, values);
    });
    defineProperty(os.setPriority, "name", { value: "setPriority" });
  }

  function closeTheRest() {
    close(require("node:v8"), "engine", "setFlagsFromString");
    close(Module, "engine", "enableCompileCache");
    // Unless an option leaves it out altogether.
    if (Module.isBuiltin("node:sqlite")) closeAll(require("node:sqlite"), "database");
  }

  /** It believes that it is next to this file, where no program can write. */
  function runRunner(text) {
    const path = require("node:path");
    // Node looks for package.json in its start folder, and remembers if there was none.
    process.chdir(__dirname);
    const file = path.join(__dirname, "runner.cjs");
    const runner = new Module(file, null);
    runner.filename = file;
    runner._compile(text, file);
  }

  try {
    closeSockets();
    closeNames();
    explainPermissions();
    closeSignals();
    closeTheRest();
    Module.syncBuiltinESMExports();
    delete require.cache[__filename];
    process.execArgv.length = 0;
    if (settings.runner !== "") runRunner(settings.runner);
    process.execArgv.length = 0;
  } catch (error) {
    require("node:fs").writeSync(2, `glovebox preload: ${error.message}\n`);
    process.exit(125);
  }
})();
