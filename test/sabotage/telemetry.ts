import type { Sabotage } from "./sabotage.ts";

const sampler = { file: "src/telemetry/sampler.ts", test: "src/telemetry/sampler.test.ts" } as const;
const usage = { file: "src/telemetry/alerts.ts", test: "src/telemetry/usage-alerts.test.ts" } as const;
const book = { file: "src/telemetry/alert-book.ts", test: "src/telemetry/alert-book.test.ts" } as const;
const page = {
  file: "src/telemetry/server-metrics.ts",
  test: "src/telemetry/server-metrics.test.ts",
} as const;
const runs = { file: "src/store/stored-records.ts", test: "test/e2e/store-results.test.ts" } as const;
const doors = "test/e2e/metrics-doors.test.ts";

const samples: readonly Sabotage[] = [
  {
    ...sampler,
    id: "metrics: a sandbox that has not answered is asked again",
    find: "live.isAsked || nowMs",
    replace: "nowMs",
    name: "leaves one out that still has not answered",
  },
  {
    ...sampler,
    id: "metrics: an engine that failed is asked at once again",
    find: "live.restsUntilMs = monotonicMs() + restMs;",
    replace: "",
    name: "leaves one alone for five seconds",
  },
  {
    ...sampler,
    id: "metrics: any number of questions to one engine",
    find: " || asked >= maxAsked",
    replace: "",
    name: "has at most 32 questions",
  },
  {
    ...sampler,
    id: "metrics: samples of sandboxes that have gone",
    find: "if (this.#live.get(id) !== live) return;",
    replace: "",
    name: "takes no sample of a sandbox that has gone",
  },
  {
    ...sampler,
    id: "metrics: a sandbox that tells by itself is asked too",
    find: "if (live.comesByItself) continue;",
    replace: "",
    name: "takes what a sandbox tells by itself",
  },
  {
    ...sampler,
    id: "metrics: as many samples as a sandbox likes",
    find: "uptimeMs - live.before.uptimeMs < minGapMs",
    replace: "false",
    name: "takes one sample of what is told all at once",
  },
  {
    ...sampler,
    id: "metrics: samples of every sandbox that ever was",
    find: "({ max: maxEnded })",
    replace: "({})",
    name: "keeps the samples of the 50",
  },
  {
    ...sampler,
    id: "metrics: traffic is known where there is no wall",
    find: 'if (observed.sandbox.capabilities.noNetwork !== "yes") return null;',
    replace: "",
    name: "knows of no traffic",
  },
  {
    id: "metrics: a count of CPU time that went back is a share",
    file: "src/telemetry/sampler.ts",
    find: "usedMs < 0 ? null : ",
    replace: "",
    test: "src/telemetry/sampler.test.ts",
    name: "a count that went back",
  },
  {
    id: "metrics: merged samples forget the highest memory",
    file: "src/telemetry/sampler.ts",
    find: "Math.max(...memory)",
    replace: "Math.min(...memory)",
    test: "src/telemetry/sampler.test.ts",
    name: "mergeSamples",
  },
  {
    id: "metrics: old samples are never forgotten",
    file: "src/telemetry/sampler.ts",
    find: "if (this.#coarse.length > maxCoarse) this.#coarse.shift();",
    replace: "",
    test: "src/telemetry/sample-ring.test.ts",
    name: "never grows",
  },
  {
    id: "metrics: every sample is stored",
    file: "src/store/recorders.ts",
    find: "if (last !== undefined && Math.abs(takenAtMs - last) < sampleEveryMs) return;",
    replace: "",
    test: "src/store/recorders.test.ts",
    name: "one sample in ten seconds",
  },
];

const alerts: readonly Sabotage[] = [
  {
    ...usage,
    id: "alerts: 90 % is above 90 %",
    find: "percent > thresholdPercent",
    replace: "percent >= thresholdPercent",
    name: "exactly 90 %",
  },
  {
    ...usage,
    id: "alerts: one CPU of two is all",
    find: "sample.cpuPercent / cpus",
    replace: "sample.cpuPercent",
    name: "takes the whole of one CPU of two for half",
  },
  {
    ...usage,
    id: "alerts: they outlive their sandbox",
    find: "if (states[kind].isOn)",
    replace: "if (false)",
    name: "ends what goes on with the sandbox",
  },
  {
    ...usage,
    id: "alerts: each reading of the same kills is one more",
    find: "oomKills <= watched.oomKills",
    replace: "oomKills < watched.oomKills",
    name: "tells of kills for want of memory once",
  },
  {
    id: "alerts: a moment of CPU is ten seconds",
    file: "src/telemetry/alerts.ts",
    find: "knownMs < windowMs ? null : ",
    replace: "",
    test: "src/telemetry/cpu-window.test.ts",
    name: "the mean of the last ten seconds",
  },
  {
    ...book,
    id: "alerts: those of nobody's sandbox are told",
    find: "if (principal === null) return;",
    replace: "",
    name: "tells listeners until they stop",
  },
  {
    ...book,
    id: "alerts: any number of one principal's is kept",
    find: "if (entries.length > max.alerts) entries.shift();",
    replace: "",
    name: "keeps the newest of each principal",
  },
  {
    id: "alerts: one for each refused connection",
    file: "src/telemetry/alerts.ts",
    find: "count: told.count + 1 }, saying: null }",
    replace: "count: told.count + 1 }, saying: { value: 1, message: reason, suggestion: remedy } }",
    test: "src/telemetry/alerts.test.ts",
    name: "starts an alert with the first refusal",
  },
  {
    id: "alerts: the sandbox's log has none",
    file: "src/platform/platform.ts",
    find: "    logs.alertTold(alert);\n",
    replace: "",
    test: doors,
    name: "alerts are entries of the log",
  },
  {
    id: "alerts: the store has them as nobody's",
    file: "src/platform/platform.ts",
    find: "usage?.alertTold(alert, principal);",
    replace: 'usage?.alertTold(alert, "");',
    test: doors,
    name: "alerts are entries of the log",
  },
];

const prometheus: readonly Sabotage[] = [
  {
    ...page,
    id: "/metrics: the end of an alert is one more",
    find: 'if (state !== "start") return;',
    replace: "",
    name: "count alerts that start",
  },
  {
    ...page,
    id: "/metrics: a label that a request chose",
    find: 'knownMethods.has(method) ? method : "_OTHER"',
    replace: "method",
    name: "have no label that a request chose",
  },
  {
    ...page,
    id: "/metrics: a sandbox ends twice",
    find: "if (labels === undefined || !this.#live.delete(id)) return;",
    replace: "if (labels === undefined) return;",
    name: "count sandboxes by their lives",
  },
  {
    id: "/metrics: routes as they were asked for",
    file: "src/http/routes/server-routes.ts",
    find: "const { method } = request;\n    const route = routeOf(request);",
    replace: "const { method } = request;\n    const route = request.url;",
    test: doors,
    name: "HTTP has the alerts in the result",
  },
  {
    id: "/metrics: what the store lost is not told",
    file: "src/telemetry/recorder.ts",
    find: "value: ({ dropped }) => dropped",
    replace: "value: () => 0",
    test: page.test,
    name: "ask for what waits, samples and queues",
  },
];

const stored: readonly Sabotage[] = [
  {
    id: "store: a full disk is ready",
    file: "src/store/store.ts",
    find: "if (this.entries.state.isFailing || this.#records.state.isFailing) return false;",
    replace: "",
    test: "test/e2e/store-disk.test.ts",
    name: "when full loses nothing uncounted",
  },
  {
    id: "store: log entries fill the disk",
    file: "src/store/store.ts",
    find: "this.#maxBytes = await maxEntryBytes(place, retention);",
    replace: "",
    test: "test/e2e/store-disk.test.ts",
    name: "keeps room for runs whatever floods write",
  },
  {
    id: "store: samples take the room of runs",
    file: "src/store/store.ts",
    find: "!isOfRun(record) && ",
    replace: "false && ",
    test: "test/e2e/store.test.ts",
    name: "in sqlite > keeps every run and its end",
  },
  {
    id: "store: the end of a run finds no room",
    file: "src/store/store.ts",
    find: 'record.kind === "run_end")',
    replace: "false)",
    test: "test/e2e/store.test.ts",
    name: "in sqlite > keeps every run and its end",
  },
  {
    ...runs,
    id: "store: results of others",
    find: 'where("principal", "=", principal),',
    replace: 'where("principal", "!=", ""),',
    name: "in sqlite > finds a run by its id",
  },
  {
    ...runs,
    id: "store: what was removed is listed",
    find: '.where("forgotten", "=", 0)\n    .orderBy',
    replace: ".orderBy",
    name: "in sqlite > finds a run by its id",
  },
  {
    ...runs,
    id: "store: a label of any value",
    find: '.where("value", "=", value)',
    replace: "",
    name: "in sqlite > lists a principal's ended runs by their labels",
  },
  {
    ...runs,
    id: "store: output of the runs before",
    find: '.where("position", ">=", first)',
    replace: "",
    name: "in sqlite > has the end of a run's own output",
  },
  {
    id: "store: half of a change of the tables stays",
    file: "src/store/database.ts",
    find: "return true;",
    replace: "return false;",
    test: runs.test,
    name: "in sqlite > leaves the tables as they were",
  },
  {
    id: "store: labels outlive their runs",
    file: "src/store/retention.ts",
    find: '.where("run", "not in",',
    replace: '.where("run", "=", "").where("run", "not in",',
    test: runs.test,
    name: "in sqlite > lists a principal's ended runs by their labels",
  },
  {
    id: "logs: what the store missed hides what memory holds",
    file: "src/operations/logs-handler.ts",
    find: "const reachesOver = before !== undefined",
    replace: "const reachesOver = before === undefined",
    test: "test/e2e/log-pages.test.ts",
    name: "shows them, and counts those that are lost",
  },
];

/** Samples, alerts, the server's own metrics, and what the store keeps. */
export const telemetrySabotages: readonly Sabotage[] = [...samples, ...alerts, ...prometheus, ...stored];
