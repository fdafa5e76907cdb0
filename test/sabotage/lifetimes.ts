import type { Sabotage } from "./sabotage.ts";

const leases = "src/sandbox/owners/leases.ts";
const leasesTest = "src/sandbox/owners/leases.test.ts";
const leftOver = "src/sandbox/sandbox-plan.ts";
const leftOverTest = "src/sandbox/sandbox-plan.test.ts";
const reaper = "src/sandbox/owners/reaper.ts";
const reaperTest = "src/sandbox/owners/reaper.test.ts";
const sandboxes = "src/sandbox/sandboxes.ts";
const sandboxesTest = "src/sandbox/sandboxes.test.ts";

const leavings: readonly Sabotage[] = [
  {
    id: "sweep: unknown owners count as expired",
    file: leftOver,
    find: `if (owner !== "unknown") return owner === "expired";`,
    replace: `return owner !== "living";`,
    test: reaperTest,
    name: "removes what is left of unknown owners after their time",
  },
  {
    id: "sweep: another user's running sandbox ends at its time",
    file: leftOver,
    find: "return !running && Date",
    replace: "return Date",
    test: reaperTest,
    name: "removes what is left of unknown owners after their time",
  },
  {
    id: "sweep: what an unknown owner left is kept for ever",
    file: leftOver,
    find: "return !running && Date",
    replace: "return running && Date",
    test: leftOverTest,
    name: "an unknown owner's whose time is over",
  },
  {
    id: "sweep: labels of an image make a container ours",
    file: leftOver,
    find: "return sandboxForm.test(sandbox) && (summary.name === name || summary.name === `${name}-folders`);",
    replace: "return name !== summary.id;",
    test: reaperTest,
    name: "removes what is left of unknown owners after their time",
  },
  {
    id: "sweep: any name that an image guesses is ours",
    file: leftOver,
    find: "sandboxForm.test(sandbox) && ",
    replace: "",
    test: leftOverTest,
    name: "whose name the image guessed",
  },
  {
    id: "sweep: an image with inherited labels is ours",
    file: "src/engines/docker-api/images.ts",
    find: "tag !== undefined && others.length === 0 && name === `${madeImages}:${tag}`",
    replace: "tag !== undefined && others.length === 0",
    test: "src/engines/docker-api/images.test.ts",
    name: "one that was made of it, with its labels and no name",
  },
  {
    id: "sweep: only once",
    file: reaper,
    find: "setInterval(sweep, sweepEveryMs)",
    replace: "setTimeout(sweep, sweepEveryMs)",
    test: reaperTest,
    name: "sweeps it at once and each minute",
  },
  {
    id: "sweep: not by itself",
    file: reaper,
    find: "setInterval(sweep, sweepEveryMs)",
    replace: "setInterval(() => undefined, sweepEveryMs)",
    test: reaperTest,
    name: "sweeps it at once and each minute",
  },
  {
    id: "lease: never renewed",
    file: leases,
    find: "}, renewEveryMs);",
    replace: "}, 2 ** 30);",
    test: leasesTest,
    name: "is renewed each minute",
  },
  {
    id: "lease: a clock that is set forward ends it",
    file: leases,
    find: "const wasLate = seen === undefined && now()",
    replace: "const wasLate = now()",
    test: leasesTest,
    name: "ends no live server's lease",
  },
  {
    id: "lease: a clock that is set ends one beside us",
    file: leases,
    find: "if (isSameBoot(process, identity)) return uptimeMs() - renewedUptimeMs > expiresAfterMs;",
    replace: "",
    test: leasesTest,
    name: "ends no live server's lease",
  },
  {
    id: "lease: a clock that is set back makes it immortal",
    file: leases,
    find: "uptimeMs() - seen.firstSeenMs > expiresAfterMs",
    replace: "now() - renewedAtMs > expiresAfterMs",
    test: leasesTest,
    name: "makes no gone server's lease last",
  },
  {
    id: "sandboxes: a failed start keeps its place",
    file: sandboxes,
    find: `      } catch (error) {
        place.release();
        throw error;`,
    replace: `      } catch (error) {
        throw error;`,
    test: sandboxesTest,
    name: "a start that fails",
  },
  {
    id: "sandboxes: a failed start leaves its container",
    file: "src/sandbox/sandboxes.ts",
    find: "if (container !== undefined) await container.remove();",
    replace: "if (container !== undefined) await Promise.resolve();",
    test: sandboxesTest,
    name: "a start that fails",
  },
  {
    id: "sandboxes: a start without an answer leaves its container",
    file: "src/sandbox/sandboxes.ts",
    find: "else if (this.doubtful.has(id)) await removeUnanswered(id, engine);",
    replace: "",
    test: sandboxesTest,
    name: "a start whose engine went away before it answered",
  },
  {
    id: "sweep: what an engine does not have is noted for ever",
    file: reaper,
    find: "for (const id of noted.filter((each) => !still.has(each))) stranded.delete(id);",
    replace: "",
    test: reaperTest,
    name: "looks again for one that it cannot remove",
  },
  {
    id: "a sandbox that cannot be removed takes its session's call with it",
    file: "src/workloads/session/session.ts",
    find: "await this.#container.discard().catch(() => undefined);",
    replace: "await this.#container.discard();",
    test: "src/workloads/session/session.test.ts",
    name: "takes neither that call's result",
  },
  {
    id: "a turn goes on after work that failed",
    file: "src/base/turns.ts",
    find: "return await work();",
    replace: "return await work().catch(() => undefined as T);",
    test: "src/base/turns.test.ts",
    name: "also when it fails",
  },
  {
    id: "a server that ends does not look again for what it could not remove",
    file: "src/sandbox/owners/reaper.ts",
    find: "const names = new Set(this.#options.stranded.values());",
    replace: "const names = new Set<string>();",
    test: "src/sandbox/owners/reaper.test.ts",
    name: "looks once more",
  },
];

const hostileUser = "test/security/hostile-user.test.ts";

const otherUsers: readonly Sabotage[] = [
  {
    id: "state: a folder of another user's is swept",
    file: "src/sandbox/work-archives.ts",
    find: "if (!(await isPrivateFolder(folder, uid))) return;\n    const owners",
    replace: "const owners",
    test: hostileUser,
    name: "cannot have root's sweep remove files",
  },
  {
    id: "state: records that others wrote count",
    file: "src/sandbox/owners/sandbox-records.ts",
    find: "if (!(await isPrivateFolder(this.#folder, this.#uid))) return [];",
    replace: "",
    test: hostileUser,
    name: "cannot have root's command visit a socket of theirs",
  },
  {
    id: "state: a folder above may be anybody's",
    file: "src/base/own-folder.ts",
    find: "if (owner !== uid && owner !== 0) throw",
    replace: "if (owner < 0) throw",
    test: "src/base/own-folder.test.ts",
    name: "is none when it, or a folder above it, belongs to somebody else",
  },
  {
    id: "state: everybody may exchange a folder above",
    file: "src/base/own-folder.ts",
    find: "(mode & othersMayWrite) !== 0 && (mode & sticky) === 0",
    replace: "false",
    test: "src/base/own-folder.test.ts",
    name: "is none below a folder that everybody may exchange it in",
  },
];

const dangers: readonly Sabotage[] = [
  {
    id: "preload: a broken Node is not named in results",
    file: "src/engines/local/preload/preload-host.ts",
    find: "...(nodeNote === null ? [] : [nodeNote]),",
    replace: "",
    test: "src/engines/local/preload/preload-host.test.ts",
    name: "tells of itself and of root in every result",
  },
  {
    id: "doctor: a broken Node is not named",
    file: "src/operations/known-dangers.ts",
    find: "...nodeDangers, ",
    replace: "",
    test: "src/operations/doctor-handler.test.ts",
    name: "is a danger where it alone keeps programs in",
  },
  {
    id: "doctor: any program that an engine names is run",
    file: "src/engines/docker-api/engine.ts",
    find: "if (uid !== 0 || (mode & 0o022) !== 0) return false;",
    replace: "if (uid > 2 ** 32 + mode) return false;",
    test: "src/engines/docker-api/engine.test.ts",
    name: "runs nothing that others than root could have put there",
  },
];

const listed = "src/operations/sandboxes-handler.ts";
const listedTest = "src/operations/sandboxes-handler.test.ts";

const lists: readonly Sabotage[] = [
  {
    id: "lists: a sandbox that has ended is listed until the engine is asked",
    file: listed,
    find: "return isRecorded ? [] : row;",
    replace: "return row;",
    test: listedTest,
    name: "lists what it knows at once",
  },
  {
    id: "lists: a record is believed whatever the engine says",
    file: listed,
    find: " && record.createdAtMs >= lookedAtMs - creatingMs",
    replace: "",
    test: listedTest,
    name: "does not believe a record of a sandbox that the engine did not have",
  },
  {
    id: "lists: what was found is never found again",
    file: "src/base/kept.ts",
    find: "ageMs >= 0 && ageMs <= this.#options.maxAgeMs",
    replace: "ageMs !== 0",
    test: "src/base/kept.test.ts",
    name: "waits when what was found is older",
  },
  {
    id: "lists: what was removed is listed as it was",
    file: "src/base/kept.ts",
    find: "    this.#found.clear();\n    this.#looking.clear();\n",
    replace: "",
    test: "src/base/kept.test.ts",
    name: "forgets what was found",
  },
];

export const lifetimesSabotages: readonly Sabotage[] = [...lists, ...leavings, ...otherUsers, ...dangers];
