import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

interface Answer {
  readonly name: string;
  readonly word: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: {
    readonly outcome?: string;
    readonly stdout?: string;
    readonly error_type?: string;
    readonly sandbox_id?: string;
  };
}

/** 200 requests at once from two keys, one asking for 180, where ten sandboxes may live and 100 may wait (SPEC LI4). */
describe("shares of two keys over HTTP", () => {
  useGlovebox("local");
  let server: KeyServer;
  beforeAll(async () => {
    server = await startKeyServer([], { MAX_CONTAINERS: "10", GLOVEBOX_QUEUE_TIMEOUT: "10m" });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("are even while both wait: each run once or told when to retry, and the modest key starts as often", async () => {
    const [greedy, modest] = [await server.addKey("greedy"), await server.addKey("modest")];
    const ended: string[] = [];
    const ask = async (name: string, key: TestKey, number: number): Promise<Answer> => {
      const word = `${name}-${number}`;
      const code = `print(${JSON.stringify(word)})`;
      const response = await key.ask("POST /api/sandbox/execute", { language: "python", code });
      const body = (await response.json()) as Answer["body"];
      if (response.status === 200) ended.push(name);
      return { name, word, status: response.status, retryAfter: response.headers.get("retry-after"), body };
    };
    const answers = await Promise.all([
      ...Array.from({ length: 180 }, (_, number) => ask("greedy", greedy, number)),
      ...Array.from({ length: 20 }, (_, number) => ask("modest", modest, number)),
    ]);
    const ran = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { word, body } of ran) expect(body).toMatchObject({ outcome: "completed", stdout: `${word}\n` });
    for (const { status, retryAfter, body } of refused) {
      expect({ status, type: body.error_type }).toEqual({ status: 429, type: "CAPACITY" });
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    }
    expect(new Set(ran.map(({ body }) => body.sandbox_id)).size).toBe(ran.length);
    expect(answers).toHaveLength(200);
    expect(ran.filter(({ name }) => name === "modest")).toHaveLength(20);
    // Ten found free places; after that, both keys waited until the modest key's last run.
    const contested = ended.slice(10, ended.lastIndexOf("modest") + 1);
    expect(contested.filter((name) => name === "modest").length / contested.length).toBeGreaterThanOrEqual(0.4);
  });
});
