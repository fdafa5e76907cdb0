import { describe, expect, it } from "vitest";
import { handlers } from "./handlers.ts";
import { operationTable } from "./table.ts";

const names = operationTable.map(({ name }) => name);
const routes = operationTable.flatMap((contract) => contract.routes.map((route) => ({ contract, route })));

/** Agents open a session by their first call, have the ids of what they made, and hear of a test's failures in its result. */
const overHttpOnly = [
  "open_session",
  "list_sessions",
  "get_session",
  "create_context",
  "list_contexts",
  "interrupt_context",
  "restart_context",
  "end_context",
  "read_test_report",
  "find_sandbox_place",
  "exec_in_sandbox",
];
/** What a request alone cannot carry; agents have sessions and environments instead. */
const overChannelsOnly = ["open_terminal", "pack_files", "unpack_files"];
/** Content by itself; agents have read_file and write_file. */
const asBytesOnly = ["download_file", "upload_file"];

describe("the operations table", () => {
  it("has each name once, in snake_case, with words for agents", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, description } of operationTable) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(description.length).toBeGreaterThan(30);
    }
  });

  it("has a handler for each contract, and no other", async () => {
    expect([...handlers.keys()]).toEqual(names);
    const loaded = await Promise.all([...handlers.values()].map((load) => load()));
    for (const [index, { contract }] of loaded.entries()) expect(contract).toBe(operationTable[index]);
  });

  it("offers to everyone what has a route and the form of a tool, and to the local operator what has neither", () => {
    const offered = operationTable.filter(({ routes: own, tool }) => own.length > 0 && tool !== undefined);
    const hidden = operationTable
      .filter(({ routes: own, tool }) => own.length === 0 && tool === undefined)
      .filter(({ channel, bytes }) => channel === undefined && bytes === undefined);
    expect(offered.map(({ audience }) => audience)).toEqual(offered.map(() => "everyone"));
    expect(hidden.map(({ audience }) => audience)).toEqual(hidden.map(() => "local"));
    const other = operationTable.filter(
      (contract) => !offered.includes(contract) && !hidden.includes(contract) && contract.routes.length > 0,
    );
    const live = operationTable.filter(({ routes: own, channel }) => own.length === 0 && channel !== undefined);
    expect(live.map(({ name, audience, tool }) => [name, audience, tool])).toEqual(
      overChannelsOnly.map((name) => [name, "everyone", undefined]),
    );
    const asBytes = operationTable.filter(({ bytes }) => bytes !== undefined);
    expect(asBytes.map(({ name, audience, tool }) => [name, audience, tool])).toEqual(
      asBytesOnly.map((name) => [name, "everyone", undefined]),
    );
    expect(other.map(({ name }) => name)).toEqual(overHttpOnly);
    expect(other.map(({ audience, routes: own }) => audience === "everyone" && own.length > 0)).not.toContain(false);
    expect(Math.min(offered.length, hidden.length)).toBeGreaterThan(10);
  });
});

describe("routes", () => {
  it("are each one operation's", () => {
    const keys = routes.map(({ route: { method, path } }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    expect(keys.length).toBeGreaterThan(15);
  });

  it("name fields of the request", () => {
    for (const { contract, route } of routes) {
      const named = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field);
      expect(Object.keys(contract.request.shape)).toEqual(expect.arrayContaining(named));
      expect(route.path).toMatch(/^\/api(\/([a-z]+|\{[a-z_]+\}))+$/);
    }
  });

  it.each([
    ["execute_code", "POST /api/sandbox/execute"],
    ["create_environment", "POST /api/environments"],
    ["list_environments", "GET /api/environments"],
    ["destroy_environment", "DELETE /api/environments/{env_id}"],
    ["run_command", "POST /api/environments/{env_id}/commands"],
    ["run_code", "POST /api/sessions/{session_id}/runs"],
    ["open_session", "POST /api/sessions"],
    ["list_sessions", "GET /api/sessions"],
    ["get_session", "GET /api/sessions/{session_id}"],
    ["end_session", "DELETE /api/sessions/{session_id}"],
    ["list_files", "GET /api/sessions/{session_id}/files"],
    ["write_file", "PUT /api/sessions/{session_id}/files"],
    ["list_files", "GET /api/environments/{env_id}/files"],
    ["read_file", "GET /api/environments/{env_id}/files/{path}"],
    ["write_file", "PUT /api/environments/{env_id}/files"],
    ["start_process", "POST /api/sessions/{session_id}/processes"],
    ["start_process", "POST /api/environments/{env_id}/processes"],
    ["list_processes", "GET /api/environments/{env_id}/processes"],
    ["list_processes", "GET /api/sessions/{session_id}/processes/{process_id}"],
    ["write_stdin", "POST /api/sessions/{session_id}/processes/{process_id}"],
    ["stop_process", "DELETE /api/environments/{env_id}/processes/{process_id}"],
  ])("%s is at %s, as the specification says", (name, expected) => {
    const own = routes.filter(({ contract }) => contract.name === name);
    expect(own.map(({ route: { method, path } }) => `${method} ${path}`)).toContain(expected);
  });
});
