import type { ExecuteRequest } from "../../helpers/wire-glovebox.ts";

const python = `
import atexit, json, os, resource, signal, sys, threading
own = set(dir()) | {"own"}
world = {
    "argv": sys.argv, "orig_argv": [each for each in getattr(sys, "orig_argv", [])], "name": __name__, "file": __file__,
    "spec": repr(__spec__), "loader": type(__loader__).__name__, "names": sorted(own), "path": sys.path,
    "modules": sorted(sys.modules), "flags": repr(sys.flags), "importers": sorted(sys.path_importer_cache),
    "environment": dict(os.environ), "folder": os.getcwd(), "umask": os.umask(0),
    "descriptors": sorted(os.listdir("/proc/self/fd"))[:3],
    "kinds": [os.stat(number).st_mode for number in (0, 1, 2)],
    "signals": [repr(signal.getsignal(number)) for number in signal.valid_signals()],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "limits": [resource.getrlimit(number) for number in range(16)],
    "threads": threading.active_count(), "children": open("/proc/self/task/%d/children" % os.getpid()).read(),
    "files": sorted(os.listdir(".")), "temporary": os.listdir("/tmp"), "user": [os.getuid(), os.getgid(), os.getgroups()],
    "group": os.getpgrp() == os.getpid(), "terminal": [os.isatty(number) for number in (0, 1, 2)],
    "input": sys.stdin.read(), "recursion": sys.getrecursionlimit(), "helper": __import__("helper").value,
    "hooks": [sys.excepthook is sys.__excepthook__, sys.stdout is sys.__stdout__, len(sys.meta_path), len(sys.path_hooks)],
    "variables": open("/proc/self/environ").read().split("\\0"),
}
atexit.register(print, json.dumps(world))
raise SystemExit(3)
`;

const javascript = `
const fs = require("node:fs");
const world = {
  argv: process.argv, execArgv: process.execArgv, argv0: process.argv0, title: process.title, main: require.main === module,
  file: __filename, folder: process.cwd(), environment: process.env, cache: Object.keys(require.cache), paths: module.paths,
  globals: Object.getOwnPropertyNames(globalThis).sort(), listeners: process.eventNames().map(String),
  files: fs.readdirSync(".").sort(), input: fs.readFileSync(0, "utf8"), user: [process.getuid(), process.getgid()],
  umask: process.umask(), helper: require("./helper.js"), terminal: [process.stdout.isTTY, process.stderr.isTTY],
  kinds: [0, 1, 2].map((number) => fs.fstatSync(number).mode), resources: process.getActiveResourcesInfo(),
  handlers: [process.listenerCount("SIGTERM"), process.listenerCount("uncaughtException")],
};
process.on("exit", () => console.log(JSON.stringify(world)));
process.exitCode = 3;
`;

const typescript = `
import { readFileSync } from "node:fs";
import helper from "./helper.ts";
interface World { readonly argv: readonly string[]; readonly [name: string]: unknown }
const world: World = {
  argv: process.argv, execArgv: process.execArgv, url: import.meta.url, folder: process.cwd(),
  environment: process.env, main: import.meta.main, input: readFileSync(0, "utf8"), helper: await Promise.resolve(helper),
  line: new Error().stack?.split("\\n")[1],
};
console.log(JSON.stringify(world));
`;

const common = { args: ["a b", "--x"], stdin: "typed\n", environment: { NAME: "wörld", PYTHONPATH: "/work/lib" } };

/** Programs that print everything they see of their surroundings, as JSON. */
export const worldPrograms: Readonly<Record<string, ExecuteRequest>> = {
  python: {
    ...{ language: "python", code: python, ...common },
    context_files: [{ path: "lib/helper.py", content: "value = 7" }],
  },
  javascript: {
    ...{ language: "javascript", code: javascript, ...common },
    context_files: [{ path: "helper.js", content: "module.exports = 7;" }],
  },
  typescript: {
    ...{ language: "typescript", code: typescript, ...common },
    context_files: [{ path: "helper.ts", content: "export default 7 as number;" }],
  },
};
